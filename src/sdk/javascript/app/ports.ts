import { bytesToHex } from '@noble/hashes/utils.js'

/** Where an app keeps what it has to remember: one text. */
export type Storage = {
  /** @returns undefined when nothing was written yet */
  read(): string | undefined | Promise<string | undefined>
  write(text: string): void | Promise<void>
}

/** The time and its timers, which tests replace. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Calls `run` once after so many milliseconds. A program need not go on only for what is in the background.
   * @returns what cancels it
   */
  after(ms: number, run: () => void, inBackground?: boolean): () => void
}

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>

/** In Node, timers in the background do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, inBackground = false) {
    // Longer timers fire at once in browsers and in Node.
    const timer: unknown = setTimeout(run, Math.min(ms, 2 ** 31 - 1))
    if (inBackground && typeof timer === 'object' && timer !== null && 'unref' in timer) {
      ;(timer as { unref(): void }).unref()
    }
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0])
  },
}

/** A random id of an install: 128 bits in hex. */
export const randomId = (): string => randomHex(16)

export const randomHex = (bytes: number): string => bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)))

/** How far the clock goes on before its time is stored, in seconds. */
export const noticeSeconds = 60
