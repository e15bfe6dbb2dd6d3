// Kernels that the tests and benches run on every generation; `build.sh` makes the code objects. OpenCL C without a
// device library: numbers of work-items and sizes come from the compiler's builtins.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define LX __builtin_amdgcn_workitem_id_x()
#define LY __builtin_amdgcn_workitem_id_y()
#define LZ __builtin_amdgcn_workitem_id_z()
#define GX __builtin_amdgcn_workgroup_id_x()
#define GY __builtin_amdgcn_workgroup_id_y()
#define GZ __builtin_amdgcn_workgroup_id_z()
#define SIZE 256u
#define ID (GX * SIZE + LX)
#define GROUPS_OF(n) __attribute__((amdgpu_flat_work_group_size(n, n))) kernel void
#define BARRIER()                                                                                                      \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                               \
  __builtin_amdgcn_s_barrier();                                                                                        \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

GROUPS_OF(256) add(global const int *a, global const int *b, global int *c, uint n) {
  uint i = ID;
  if (i < n) c[i] = a[i] + b[i];
}

// C = A * B of n x n, tiles of 16 x 16.
GROUPS_OF(256) matmul(global const float *a, global const float *b, global float *c, uint n) {
  local float ta[16][16], tb[16][16];
  uint x = LX, y = LY, column = GX * 16 + x, row = GY * 16 + y;
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    BARRIER();
#pragma unroll
    for (uint i = 0; i < 16; i++) sum = __builtin_fmaf(ta[y][i], tb[i][x], sum);
    BARRIER();
  }
  c[row * n + column] = sum;
}

// Accelerations of n bodies (x, y, z, mass).
GROUPS_OF(256) nbody(global const float4 *p, global float4 *f, uint n) {
  uint i = ID;
  if (i >= n) return;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
#pragma unroll 1
  for (uint j = 0; j < n; j++) {
    float4 o = p[j];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float r2 = __builtin_fmaf(dx, dx, __builtin_fmaf(dy, dy, __builtin_fmaf(dz, dz, 0.01f)));
    float r = __builtin_amdgcn_rsqf(r2), s = o.w * r * r * r;
    ax = __builtin_fmaf(dx, s, ax);
    ay = __builtin_fmaf(dy, s, ay);
    az = __builtin_fmaf(dz, s, az);
  }
  f[i] = (float4)(ax, ay, az, 0);
}

GROUPS_OF(256) crc32(global const uchar *d, global uint *out, uint len) {
  uint i = ID, c = ~0u;
  global const uchar *p = d + i * len;
#pragma unroll 1
  for (uint k = 0; k < len; k++) {
    c ^= p[k];
#pragma unroll
    for (int b = 0; b < 8; b++) c = (c >> 1) ^ (0xEDB88320u & -(c & 1));
  }
  out[i] = ~c;
}

GROUPS_OF(256) mandelbrot(global uint *out, uint w, uint h, uint most) {
  uint i = ID, k = 0;
  if (i >= w * h) return;
  float cx = -2.0f + 3.0f * (float)(i % w) / (float)w, cy = -1.0f + 2.0f * (float)(i / w) / (float)h, x = 0, y = 0;
#pragma unroll 1
  for (; k < most && x * x + y * y <= 4.0f; k++) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  out[i] = k;
}

// Inclusive prefix sums of each group, through local memory and several waves.
GROUPS_OF(256) scan(global const uint *x, global uint *out) {
  local uint t[2][SIZE];
  uint p = 0;
  t[0][LX] = x[ID];
  BARRIER();
#pragma unroll 1
  for (uint d = 1; d < SIZE; d <<= 1) {
    t[1 - p][LX] = t[p][LX] + (LX >= d ? t[p][LX - d] : 0);
    p ^= 1;
    BARRIER();
  }
  out[ID] = t[p][LX];
}

// Local counts first, then global ones.
GROUPS_OF(256) histogram(global const uchar *x, global uint *bins, uint n) {
  local uint counts[256];
  counts[LX] = 0;
  BARRIER();
  for (uint i = ID; i < n; i += SIZE * 4) __atomic_fetch_add(&counts[x[i]], 1u, __ATOMIC_RELAXED);
  BARRIER();
  if (counts[LX]) __atomic_fetch_add(&bins[LX], counts[LX], __ATOMIC_RELAXED);
}

// Integer, 64-bit and exchange atomics on a few places.
GROUPS_OF(256) atomics(global int *m, global ulong *w, global uint *old, uint n) {
  uint i = ID, h = i * 2654435761u;
  if (i >= n) return;
  __atomic_fetch_max(&m[0], (int)h, __ATOMIC_RELAXED);
  __atomic_fetch_min(&m[1], (int)h, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&m[2], (int)h, __ATOMIC_RELAXED);
  __atomic_fetch_or(&m[3], 1 << (i & 30), __ATOMIC_RELAXED);
  __atomic_fetch_add(&w[0], (ulong)h * i, __ATOMIC_RELAXED);
  // Adds 3 by compare and exchange, as compilers write what has no instruction.
  uint seen = __atomic_load_n((global uint *)&m[4], __ATOMIC_RELAXED), next;
  do next = seen + 3; while (!__atomic_compare_exchange_n((global uint *)&m[4], &seen, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  old[i] = __atomic_fetch_add((global uint *)&m[5], 1u, __ATOMIC_RELAXED);
}

// A stack in private memory, indexed at run time.
GROUPS_OF(64) stack(global const uint *x, global uint *out, uint n) {
  uint s[48];
  uint i = GX * 64u + LX, top = 0, sum = 0;
#pragma unroll 1
  for (uint k = 0; k < n; k++) {
    uint v = x[(i + k * 7) % n];
    if ((v & 3) && top < 48) s[top++] = v;
    else if (top) sum = sum * 31 + s[--top];
    if (top > 2) s[v % top] ^= v;
  }
  while (top) sum = sum * 31 + s[--top];
  out[i] = sum;
}

__attribute__((noinline)) static uint mix(uint *p, uint n) {
  uint h = 17;
#pragma unroll 1
  for (uint i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u, p[i] = h;
  return h;
}

// Calls a function with a generic pointer: to private or to local memory.
GROUPS_OF(64) pointers(global const uint *x, global uint *out) {
  local uint shared[64 * 5];
  uint own[9], i = GX * 64u + LX;
  for (uint k = 0; k < 9; k++) own[k] = x[i] + k * k;
  for (uint k = 0; k < 5; k++) shared[LX * 5 + k] = x[i] * 3 + k;
  uint *p = x[i] & 1 ? own : (uint *)(shared + LX * 5);
  uint h = mix(p, x[i] & 1 ? 9 : 5);
  out[i] = h + own[3] + shared[LX * 5 + 2];
}

// Every number that a work-item can have.
GROUPS_OF(64) numbers(global uint *out) {
  const constant uint *packet = (const constant uint *)__builtin_amdgcn_dispatch_ptr();
  uint nx = __builtin_amdgcn_grid_size_x(), ny = __builtin_amdgcn_grid_size_y();
  uint sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
  uint gx = GX * 4 + LX, gy = GY * 8 + LY, gz = GZ * 2 + LZ;
  global uint *o = out + 8 * (gx + nx * (gy + ny * gz));
  o[0] = gx, o[1] = gy, o[2] = gz, o[3] = sx | sy << 8 | sz << 16, o[4] = GX | GY << 8 | GZ << 16;
  o[5] = LX | LY << 8 | LZ << 16, o[6] = packet[3] + packet[4] * 1000 + packet[5] * 1000000, o[7] = nx * ny;
}

GROUPS_OF(64) divide(global const float *a, global const float *b, global float *q, global float *s,
                     global const double *c, global const double *d, global double *r, global double *t) {
  uint i = GX * 64u + LX;
  q[i] = a[i] / b[i];
  s[i] = __builtin_sqrtf(__builtin_fabsf(a[i]));
  r[i] = c[i] / d[i];
  t[i] = __builtin_sqrt(__builtin_fabs(c[i]));
}

GROUPS_OF(64) integers(global const long *a, global const long *b, global long *q, global long *r, global uint *bits) {
  uint i = GX * 64u + LX;
  q[i] = a[i] / b[i];
  r[i] = (long)((ulong)a[i] % (ulong)b[i]);
  uint v = (uint)a[i];
  bits[i] = __builtin_popcount(v) + (v ? __builtin_clz(v) : 32) * 100 + (v ? __builtin_ctz(v) : 32) * 10000 + __builtin_bitreverse32(v);
}

// Packed halves, conversions, saturating and small integers.
GROUPS_OF(64) small(global const float *x, global const half2 *a, global const half2 *b, global half2 *c, global const ushort2 *u,
                    global ushort2 *v, global uchar *byte, global double *wide) {
  uint i = GX * 64u + LX;
  c[i] = a[i] * b[i] + c[i];
  v[i] = u[i] * u[i] + v[i];
  byte[i] = (uchar)(uint)__builtin_fminf(__builtin_fmaxf(x[i], 0.f), 255.f);
  wide[i] = (double)x[i] * 0.1 + (double)(int)x[i];
}

// Sums over 32 lanes through other lanes' registers.
GROUPS_OF(64) lanes(global const int *x, global int *out) {
  int v = x[GX * 64u + LX];
  for (int d = 1; d < 32; d <<= 1) v += __builtin_amdgcn_ds_bpermute((int)((LX ^ d) << 2), v);
  out[GX * 64u + LX] = v + __builtin_amdgcn_readfirstlane(x[GX * 64u]);
}

// A chain through all groups, backwards: each waits until the one behind it has written, so all must run at once. Local
// memory that the launch adds holds the value.
GROUPS_OF(64) chain(global uint *flags, global uint *out, local uint *room, uint n) {
  uint g = GX;
  if (LX == 0) {
    while (g + 1 < n && __atomic_load_n(&flags[g + 1], __ATOMIC_ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    room[0] = g + 1 < n ? out[g + 1] * 3 + g : 1;
    out[g] = room[0];
    __atomic_store_n(&flags[g], 1u, __ATOMIC_RELEASE);
  }
}
