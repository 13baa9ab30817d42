// y = x through views of any strides; which threads ran last; what scalars and small types look like
#include "layoutc.cuh"

KERNEL(64) copy(In<i16> x, Out<i16> y, int H, int W, i64 x_stride_i, i64 x_stride_j, i64 y_stride_i, i64 y_stride_j) {
    const int i = blockIdx.x;
    for (int j = threadIdx.x; j < W; j += blockDim.x) {
        y[i * y_stride_i + j * y_stride_j] = x[i * x_stride_i + j * x_stride_j];
    }
}

KERNEL(128) last(Out<int> winner) {
    SHARED(int, slot, 1);
    store_any(slot, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        winner[blockIdx.x] = slot[0];
    }
}

KERNEL(32) scalars(CONSTANT_PARAM Constant<bf16, 3> w, CONSTANT_PARAM Constant<bool, 2> b, i64 far, int near, Out<double> y) {
    if (threadIdx.x == 0) {
        y[0] = float(w[0]) + float(w[1]) * float(w[2]);
        y[1] = far;
        y[2] = near;
        y[3] = b[0] * 2 + b[1];
    }
}

// Elements of shared memory as operands of everything: out[k] = expression k of 5 and 3, or of 1.5 and -0.25.
KERNEL(32) elements(Out<int> whole, Out<float> real) {
    SHARED(int, a, 2);
    SHARED(float, b, 2);
    SHARED(f16, h, 2);
    if (threadIdx.x == 0) {
        a[0] = 5;
        a[1] = 3;
        b[0] = 1.5f;
        b[1] = -0.25f;
        h[0] = convert<f16>(b[0]);
        h[1] = h[0];
        whole[0] = add(a[0], a[1]);
        whole[1] = mul_add(a[0], 2, a[1]);
        whole[2] = minimum(a[0], a[1]) + a[0] * a[1];
        whole[3] = nearest(a[0], a[1]);
        whole[4] = convert<int>(b[0]) + convert<i8>(h[1]);
        a[0] += a[1];
        whole[5] = a[0];
        real[0] = mul_add(b[0], b[1], 1.0f);
        real[1] = maximum(b[0], 2.0f) + sqrt(b[0] * 1.5f);
        real[2] = b[1] < b[0] ? b[1] : 0.0f;
        real[3] = fma(b[0], b[1], b[1]) + float(h[0]);
        real[4] = clamp(b[0], b[1], 1.0f) + floor_mod(b[1], b[0]);
    }
}
