import { quoted } from '../domain/plain-text.ts'

/** `1 active device fails`, `2 active devices fail`: a count with the words that agree with it. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** The caller's reason as a quotation; no sentence without a reason. */
export const reasonGiven = (reason: string | undefined): string[] =>
  reason === undefined ? [] : [`Reason given by the requester: ${quoted(reason)}`]
