// How it is measured: by CPU time, in medians.

const REPEATS = 31;

/** How often something is done before it counts, as compilers do their work only then. */
const WARM_UP = 15;

/** Nanoseconds of CPU time for one of the calls that a batch makes. */
export function nanoseconds(calls, batch) {
  const times = Array.from({ length: WARM_UP + REPEATS }, () => {
    const start = process.cpuUsage();
    batch();
    return (since(start) * 1e3) / calls;
  });
  return median(times.slice(WARM_UP));
}

/** Milliseconds of CPU time for `work`, which may be asynchronous; `after` is not counted. */
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

/** Megabytes that are in use on the heap and in array buffers, after all that can be has been collected. */
export function megabytesInUse() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

/** All threads count: what the collector and the compilers do meanwhile is part of the price. */
function since(start) {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1];
}
