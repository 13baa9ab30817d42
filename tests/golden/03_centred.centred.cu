// centred, schedule: chosen by the compiler
// y: tile i 512; 128 threads, 4 outputs each, (128,4):(4,1)
// f: 3 in registers
// x: 12 in registers; halo i [1, 1]
#include "layoutc.cuh"

using Index = int;

// A thread takes its rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void centred_walk(
    In<float> x,
    In<float> f,
    Out<float> y,
    Index N,
    Index i
) {
    float f_held[3];
    UNROLL
    for (int at = 0; at < 3; ++at) {
        f_held[at] = f[at];
    }

    float x_row[12];
    if (interior) {
        UNROLL
        for (int piece = 0; piece < 3; ++piece) {
            const Pack<float, 4> part = load<4>(x + (i + piece * 4 - 4));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_row[piece * 4 + element] = part[element];
            }
        }
    } else {
        UNROLL
        for (int piece = 0; piece < 3; ++piece) {
            const Index x_i = i + piece * 4 - 4;
            if (x_i >= 0 && x_i + 4 <= N) {
                const Pack<float, 4> part = load<4>(x + x_i);
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_row[piece * 4 + element] = part[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_row[piece * 4 + element] = within(x_i + element, N) ? x[x_i + element] : 0.0f;
                }
            }
        }
    }

    float y_row[4];
    UNROLL
    for (int item = 0; item < 4; ++item) {
        float sum = 0.0f;
        UNROLL
        for (int u = -1; u < 2; ++u) {
            sum = fma(f_held[u + 1], x_row[item + u + 4], sum);
        }
        y_row[item] = sum;
    }
    if (interior || i + 3 < N) {
        Pack<float, 4> part = Pack<float, 4>();
        UNROLL
        for (int k = 0; k < 4; ++k) {
            part[k] = y_row[k];
        }
        store(y + i, part);
    } else {
        UNROLL
        for (int item = 0; item < 4; ++item) {
            if (i + item < N) {
                y[i + item] = y_row[item];
            }
        }
    }
}

KERNEL(128) centred(
    In<float> x,
    In<float> f,
    Out<float> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 512;
    const Index i = tile_i + thread * 4;
    const Index warp_i = tile_i + thread / 32 * 128;
    if (warp_i + 132 <= N && warp_i - 4 >= 0) {
        centred_walk<true>(x, f, y, N, i);
    } else {
        centred_walk<false>(x, f, y, N, i);
    }
}
