// fields, schedule: chosen by the compiler
// plane: tile c 3, i 512; 128 threads, 12 outputs each, (128,(4,3)):(4,(1,512))
// points: 4 x 3 in registers; halo i [0, 0], c [0, 0]
#include "layoutc.cuh"

using Index = int;

// A thread takes 3 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void fields_walk(
    In<float> points, Index points_stride_0,
    Out<float> plane, Index plane_stride_0,
    Index N,
    Index first_c, Index i
) {
    float points_row[12];
    if (interior) {
        UNROLL
        for (int points_at_i = 0; points_at_i < 4; ++points_at_i) {
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                points_row[points_at_i * 3 + piece] =
                    points[(i + points_at_i) * points_stride_0 + first_c + piece];
            }
        }
    } else {
        UNROLL
        for (int points_at_i = 0; points_at_i < 4; ++points_at_i) {
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                const Index points_c = first_c + piece;
                points_row[points_at_i * 3 + piece] = i + points_at_i < N && points_c < 3
                    ? points[(i + points_at_i) * points_stride_0 + points_c] : 0.0f;
            }
        }
    }
    UNROLL_BY(3)
    for (int row = 0; row < 3; ++row) {
        const Index c = first_c + row;
        float plane_row[4];
        UNROLL
        for (int item = 0; item < 4; ++item) {
            plane_row[item] = points_row[item * 3 + row];
        }
        if (interior || (c < 3 && i + 3 < N)) {
            Pack<float, 4> part = Pack<float, 4>();
            UNROLL
            for (int k = 0; k < 4; ++k) {
                part[k] = plane_row[k];
            }
            store(plane + (c * plane_stride_0 + i), part);
        } else {
            UNROLL
            for (int item = 0; item < 4; ++item) {
                if (c < 3 && i + item < N) {
                    plane[c * plane_stride_0 + i + item] = plane_row[item];
                }
            }
        }
    }
}

KERNEL(128) fields(
    In<float> points, Index points_stride_0,
    Out<float> plane, Index plane_stride_0,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_i = (N + 511) / 512;
    const Index tile_c = block / blocks_i * 3;
    const Index tile_i = block % blocks_i * 512;
    const Index i = tile_i + thread * 4;
    const Index warp_i = tile_i + thread / 32 * 128;
    if (tile_c + 3 <= 3 && warp_i + 128 <= N) {
        fields_walk<true>(points, points_stride_0, plane, plane_stride_0, N, tile_c, i);
    } else {
        fields_walk<false>(points, points_stride_0, plane, plane_stride_0, N, tile_c, i);
    }
}
