// hunt, schedule: default
// grown, fed: tile i 256; 256 threads, 1 output each, (256,1):(1,256)
// 8 steps a launch; halo of a step i [1, 1]
// prey: 272 in shared memory, twice; halo i [8, 8]
// hunter: 272 in shared memory, twice; halo i [8, 8]
// shared memory: 4352 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) hunt(
    In<float> prey,
    In<float> hunter,
    Out<float> grown,
    Out<float> fed,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 256;
    SHARED(float, prey_tile, 2 * 272);
    SHARED(float, hunter_tile, 2 * 272);
    for (int at = thread; at < 272; at += 256) {
        const Index prey_i = tile_i + at - 8;
        prey_tile[at] = prey[mirror(prey_i, N)];
    }
    for (int at = thread; at < 272; at += 256) {
        const Index hunter_i = tile_i + at - 8;
        hunter_tile[at] = hunter[mirror(hunter_i, N)];
    }
    __syncthreads();
    for (int step = 1; step < 8; ++step) {
        for (int at = thread; at < 270; at += 256) {
            const Index place_i = tile_i + at - 7;
            if (at >= step - 1 && at < -step + 271 && place_i < N - step + 8) {
                const Index i = mirror(place_i, N);
                const float meetings = prey_tile[(step - 1) % 2 * 272 + i - tile_i + 8]
                    * hunter_tile[(step - 1) % 2 * 272 + i - tile_i + 8];
                prey_tile[step % 2 * 272 + at + 1] = 1.1f * prey_tile[(step - 1) % 2 * 272 + i - tile_i + 8]
                    - meetings / 4.0f + (prey_tile[(step - 1) % 2 * 272 + i - tile_i + 7]
                    - 2.0f * prey_tile[(step - 1) % 2 * 272 + i - tile_i + 8]
                    + prey_tile[(step - 1) % 2 * 272 + i - tile_i + 9]) / 8.0f;
                hunter_tile[step % 2 * 272 + at + 1] = 0.9f
                    * hunter_tile[(step - 1) % 2 * 272 + i - tile_i + 8] + meetings / 8.0f
                    + (hunter_tile[(step - 1) % 2 * 272 + i - tile_i + 7]
                    - 2.0f * hunter_tile[(step - 1) % 2 * 272 + i - tile_i + 8]
                    + hunter_tile[(step - 1) % 2 * 272 + i - tile_i + 9]) / 16.0f;
            }
        }
        __syncthreads();
    }

    const Index i = tile_i + thread;
    if (i < N) {
        const float meetings = prey_tile[272 + thread + 8] * hunter_tile[272 + thread + 8];
        grown[i] = 1.1f * prey_tile[272 + thread + 8] - meetings / 4.0f
            + (prey_tile[272 + thread + 7] - 2.0f * prey_tile[272 + thread + 8] + prey_tile[272 + thread + 9])
            / 8.0f;
        fed[i] = 0.9f * hunter_tile[272 + thread + 8] + meetings / 8.0f
            + (hunter_tile[272 + thread + 7] - 2.0f * hunter_tile[272 + thread + 8]
            + hunter_tile[272 + thread + 9]) / 16.0f;
    }
}
