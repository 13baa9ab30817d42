// star, schedule: near
// y: tile i 16, j 8, k 128; 256 threads, 64 outputs each, ((32,8),(4,16)):((4,128),(1,1024))
// w: 4 in registers
// x: 7 x 7 x 12 in registers; halo i [3, 3], j [3, 3], k [3, 3]
#include "layoutc.cuh"

using Index = int;

KERNEL(256, 6) star(
    In<float> x, Index x_stride_0, Index x_stride_1,
    In<float> w,
    Out<float> y, Index y_stride_0, Index y_stride_1,
    Index D, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_k = (W + 127) / 128;
    const Index blocks_j = (H + 7) / 8;
    const Index tile_i = block / blocks_k / blocks_j * 16;
    const Index tile_j = block / blocks_k % blocks_j * 8;
    const Index tile_k = block % blocks_k * 128;
    float w_held[4];
    UNROLL
    for (int at = 0; at < 4; ++at) {
        w_held[at] = w[at];
    }

    const Index j = tile_j + thread / 32;
    const Index k = tile_k + thread % 32 * 4;
    const bool x_inside = j - 3 >= 0 && j + 4 <= H && tile_k - 4 >= 0 && tile_k + 132 <= W;
    float x_held[28];
    float x_around[12];
    float x_around_2[12];
    float x_around_3[12];
    const Index turns = minimum(D - tile_i, 16);
    UNROLL
    for (int start = 0; start < 6; ++start) {
        const Index x_i = tile_i + start - 3;
        if (x_inside && x_i >= 0 && x_i < D) {
            const Pack<float, 4> pack = load<4>(x + (x_i * x_stride_0 + j * x_stride_1 + k));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_held[start * 4 + element] = pack[element];
            }
        } else {
            if (k + 4 <= W) {
                const Pack<float, 4> pack =
                    load<4>(x + (mirror(x_i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + k));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_held[start * 4 + element] = pack[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_held[start * 4 + element] =
                        x[mirror(x_i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + mirror(k + element, W)];
                }
            }
        }
    }
    UNROLL_BY(1)
    for (int turn = 0; turn < turns; ++turn) {
        const Index i = tile_i + turn;
        const Index x_i = i + 3;
        if (x_inside && x_i >= 0 && x_i < D) {
            const Pack<float, 4> pack = load<4>(x + (x_i * x_stride_0 + j * x_stride_1 + k));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_held[element + 24] = pack[element];
            }
        } else {
            if (k + 4 <= W) {
                const Pack<float, 4> pack =
                    load<4>(x + (mirror(x_i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + k));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_held[element + 24] = pack[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_held[element + 24] =
                        x[mirror(x_i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + mirror(k + element, W)];
                }
            }
        }
        if (x_inside && i >= 0 && i < D) {
            UNROLL
            for (int line = 0; line < 3; ++line) {
                const Pack<float, 4> pack = load<4>(x + (i * x_stride_0 + (j + line - 3) * x_stride_1 + k));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[line * 4 + element] = pack[element];
                }
            }
            UNROLL
            for (int line = 0; line < 3; ++line) {
                const Pack<float, 4> pack = load<4>(x + (i * x_stride_0 + (j + line + 1) * x_stride_1 + k));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around_2[line * 4 + element] = pack[element];
                }
            }
            const Pack<float, 4> pack = load<4>(x + (i * x_stride_0 + j * x_stride_1 + k - 4));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_around_3[element] = pack[element];
            }
            const Pack<float, 4> pack_2 = load<4>(x + (i * x_stride_0 + j * x_stride_1 + k + 4));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_around_3[element + 8] = pack_2[element];
            }
        } else {
            UNROLL
            for (int line = 0; line < 3; ++line) {
                if (k + 4 <= W) {
                    const Pack<float, 4> pack =
                        load<4>(x + (mirror(i, D) * x_stride_0 + mirror(j + line - 3, H) * x_stride_1 + k));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_around[line * 4 + element] = pack[element];
                    }
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_around[line * 4 + element] =
                            x[mirror(i, D) * x_stride_0 + mirror(j + line - 3, H) * x_stride_1
                            + mirror(k + element, W)];
                    }
                }
            }
            UNROLL
            for (int line = 0; line < 3; ++line) {
                if (k + 4 <= W) {
                    const Pack<float, 4> pack =
                        load<4>(x + (mirror(i, D) * x_stride_0 + mirror(j + line + 1, H) * x_stride_1 + k));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_around_2[line * 4 + element] = pack[element];
                    }
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_around_2[line * 4 + element] =
                            x[mirror(i, D) * x_stride_0 + mirror(j + line + 1, H) * x_stride_1
                            + mirror(k + element, W)];
                    }
                }
            }
            if (k - 4 >= 0 && k <= W) {
                const Pack<float, 4> pack =
                    load<4>(x + (mirror(i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + k - 4));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around_3[element] = pack[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around_3[element] =
                        x[mirror(i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + mirror(k + element - 4, W)];
                }
            }
            if (k + 8 <= W) {
                const Pack<float, 4> pack =
                    load<4>(x + (mirror(i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + k + 4));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around_3[element + 8] = pack[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around_3[element + 8] =
                        x[mirror(i, D) * x_stride_0 + mirror(j, H) * x_stride_1 + mirror(k + element + 4, W)];
                }
            }
        }
        UNROLL
        for (int element = 0; element < 4; ++element) {
            x_around_3[element + 4] = x_held[element + 12];
        }
        float y_made[4];
        UNROLL
        for (int item = 0; item < 4; ++item) {
            float sum = 0.0f;
            UNROLL
            for (int u = 1; u < 4; ++u) {
                sum = fma(w_held[u], x_held[item - u * 4 + 12] + x_held[u * 4 + item + 12]
                    + x_around[item - u * 4 + 12] + x_around_2[u * 4 + item - 4] + x_around_3[item - u + 4]
                    + x_around_3[item + u + 4], sum);
            }
            y_made[item] = w_held[0] * x_held[item + 12] + sum;
        }
        if (j < H) {
            if (k + 4 <= W) {
                Pack<float, 4> pack = Pack<float, 4>();
                UNROLL
                for (int k_2 = 0; k_2 < 4; ++k_2) {
                    pack[k_2] = y_made[k_2];
                }
                store(y + (i * y_stride_0 + j * y_stride_1 + k), pack);
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    if (k + element < W) {
                        y[i * y_stride_0 + j * y_stride_1 + k + element] = y_made[element];
                    }
                }
            }
        }
        // the planes move on
        UNROLL
        for (int k_2 = 0; k_2 < 24; ++k_2) {
            x_held[k_2] = x_held[k_2 + 4];
        }
    }
}
