import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/**
 * The acknowledged length of the log, in a small file beside the database. It is written after each commit and
 * before the answer, and is not flushed. So it may be older than the log but never newer, and a log that ends
 * before it has lost events.
 */
export type Acknowledged = {
  /** The next event's position at that time; 0 when unknown, as after a power cut during a write. */
  readonly position: number
  advance(position: number): void
  close(): void
}

export function openAcknowledged(path: string): Acknowledged {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  let last = parse(readFileSync(file, 'latin1'))

  return {
    get position() {
      return last
    },
    advance(position) {
      if (position === last) return
      last = position
      try {
        writeSync(file, format(position), 0, 'latin1')
      } catch {
        // The commit is on disk. An older position only detects less.
      }
    },
    close() {
      fsyncSync(file)
      closeSync(file)
    },
  }
}

const format = (position: number): string => {
  const digits = String(position).padStart(16, '0')
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}\n`
}

function parse(text: string): number {
  const position = Number(text.slice(0, 16))
  return Number.isSafeInteger(position) && text === format(position) ? position : 0
}
