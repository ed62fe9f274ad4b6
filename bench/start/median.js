/** Returns the median of numbers. */
export function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1];
}
