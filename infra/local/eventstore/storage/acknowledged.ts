import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/**
 * The acknowledged length of the log, in a small file beside the database. It is written after each commit and
 * before the answer, and is not flushed. So it may be older than the log but never newer, and a log that ends
 * before it has lost events.
 */
export class Acknowledged {
  readonly #file: number
  #last: number

  private constructor(file: number, last: number) {
    this.#file = file
    this.#last = last
  }

  static open(path: string): Acknowledged {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    return new Acknowledged(file, parse(readFileSync(file, 'latin1')))
  }

  /** The next event's position at that time; 0 when unknown, as after a power cut during a write. */
  get position(): number {
    return this.#last
  }

  advance(position: number): void {
    if (position === this.#last) return
    this.#last = position
    try {
      writeSync(this.#file, format(position), 0, 'latin1')
    } catch {
      // The commit is on disk. An older position only detects less.
    }
  }

  close(): void {
    fsyncSync(this.#file)
    closeSync(this.#file)
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
