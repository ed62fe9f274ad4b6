// Measurements of CPU time and memory. Times are medians.

const REPEATS = 31;

/** The number of warm-up calls, after which the compilers have optimized the code. */
const WARM_UP = 15;

/** Returns the CPU time of one call of a batch, in nanoseconds. */
export function nanoseconds(calls, batch) {
  const times = Array.from({ length: WARM_UP + REPEATS }, () => {
    const start = process.cpuUsage();
    batch();
    return (since(start) * 1e3) / calls;
  });
  return median(times.slice(WARM_UP));
}

/** Returns the CPU time of `work`, which may be asynchronous, in milliseconds. `after` is not included. */
export async function milliseconds(work, after = () => {}) {
  const times = [];
  for (let repeat = 0; repeat < WARM_UP + REPEATS; repeat += 1) {
    const start = process.cpuUsage();
    const result = await work();
    times.push(since(start) / 1e3);
    await after(result);
  }
  return median(times.slice(WARM_UP));
}

/** Returns the megabytes in use on the heap and in array buffers, after a full garbage collection. */
export function megabytesInUse() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

/** Includes all threads: garbage collection and compilation are part of the cost. */
function since(start) {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1];
}
