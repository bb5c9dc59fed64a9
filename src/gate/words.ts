/** `1 active device fails`, `2 active devices fail`: a count with the words that agree with it. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
