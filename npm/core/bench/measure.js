// Measurements of CPU time and memory.

const ROUNDS = 61;

/** The number of rounds before the first one that counts, in which the compilers optimize the code. */
const WARM_UP = 15;

/** Returns the same as `milliseconds`, but for one of the calls that each batch makes, and in nanoseconds. */
export async function nanoseconds(calls, batches) {
  const times = await milliseconds(batches);
  return each(times, ({ median, ratio }) => ({ median: (median * 1e6) / calls, ratio }));
}

/**
 * Returns the median CPU time of each work, in milliseconds, and its median ratio to the first one, the yardstick. The
 * works take turns, because the speed of a machine changes. They may be asynchronous; `after` is not measured.
 */
export async function milliseconds(works, after = {}) {
  const rounds = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const times = {};
    for (const [name, work] of Object.entries(works)) {
      const start = process.cpuUsage();
      const result = await work();
      times[name] = since(start) / 1e3;
      await after[name]?.(result);
    }
    rounds.push(times);
  }
  return summary(rounds);
}

function summary(rounds) {
  const counted = rounds.slice(WARM_UP);
  const [yardstick] = Object.keys(counted[0]);
  return each(counted[0], (_, name) => ({
    median: median(counted.map((round) => round[name])),
    ratio:
      name === yardstick
        ? undefined
        : median(counted.map((round) => round[name] / round[yardstick])),
  }));
}

/** Returns an object with the same names. */
function each(object, toValue) {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, toValue(value, name)]),
  );
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
