import { existsSync, readFileSync } from 'node:fs'

const headerBytes = 32
const frameHeaderBytes = 24
/** The lowest bit is the byte order of the checksums. */
const walMagic = 0x377f0682

/**
 * Finds damage in SQLite's write-ahead log. SQLite reads the log up to the first frame with a wrong checksum
 * and silently ignores the rest, because a crash leaves such a frame at the end. Damage in the middle would
 * therefore drop acknowledged transactions.
 *
 * Each commit is flushed to disk before the next transaction starts, so a crash can leave wrong frames only in
 * the last transaction, which has at most one commit. If good frames with two commits follow a wrong frame,
 * that frame was not in the last transaction, so a crash did not cause it.
 *
 * @returns the byte offset of the damage; undefined when there is none, or none that can be told from a crash
 * @see https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function findDamage(path: string): number | undefined {
  const log = existsSync(path) ? Log.open(readFileSync(path)) : undefined
  if (!log) return undefined
  let wrong = 0
  while (wrong < log.frames && log.isGood(wrong)) wrong += 1
  // The wrong part may be the frame's own checksum, which the check of the next frame uses.
  return log.commitsFrom(wrong + 1) >= 2 || log.commitsFrom(wrong + 2) >= 2 ? log.offsetOf(wrong) : undefined
}

type Checksum = readonly [number, number]

class Log {
  readonly frames: number
  readonly #content: Buffer
  readonly #frameBytes: number
  readonly #words: DataView
  readonly #littleEndian: boolean

  private constructor(content: Buffer, pageBytes: number, littleEndian: boolean) {
    this.#content = content
    this.#words = new DataView(content.buffer, content.byteOffset, content.byteLength)
    this.#littleEndian = littleEndian
    this.#frameBytes = frameHeaderBytes + pageBytes
    this.frames = Math.floor((content.length - headerBytes) / this.#frameBytes)
  }

  /** Opens a log; undefined when the header is invalid, and SQLite ignores the whole log. */
  static open(content: Buffer): Log | undefined {
    if (content.length < headerBytes) return undefined
    const magic = content.readUInt32BE(0)
    if ((magic & ~1) !== walMagic) return undefined
    const log = new Log(content, content.readUInt32BE(8), (magic & 1) === 0)
    const [first, second] = log.#sum([0, 0], 0, 24)
    return first === content.readUInt32BE(24) && second === content.readUInt32BE(28) ? log : undefined
  }

  offsetOf(frame: number): number {
    return headerBytes + frame * this.#frameBytes
  }

  /**
   * Whether a frame belongs to this log instead of an overwritten one, and its checksum follows from the frame
   * before.
   */
  isGood(frame: number): boolean {
    const offset = this.offsetOf(frame)
    const content = this.#content
    if (content.compare(content, 16, 24, offset + 8, offset + 16) !== 0) return false
    const before = frame === 0 ? 24 : this.offsetOf(frame - 1) + 16
    let sum: Checksum = [content.readUInt32BE(before), content.readUInt32BE(before + 4)]
    sum = this.#sum(sum, offset, 8)
    sum = this.#sum(sum, offset + frameHeaderBytes, this.#frameBytes - frameHeaderBytes)
    return sum[0] === content.readUInt32BE(offset + 16) && sum[1] === content.readUInt32BE(offset + 20)
  }

  /** The number of commits in the consecutive good frames from here. */
  commitsFrom(frame: number): number {
    let commits = 0
    for (let next = frame; next < this.frames && this.isGood(next); next += 1) {
      if (this.#content.readUInt32BE(this.offsetOf(next) + 4) !== 0) commits += 1
    }
    return commits
  }

  #sum([first, second]: Checksum, offset: number, length: number): Checksum {
    let a = first
    let b = second
    for (let at = offset; at < offset + length; at += 8) {
      a = (a + this.#words.getUint32(at, this.#littleEndian) + b) >>> 0
      b = (b + this.#words.getUint32(at + 4, this.#littleEndian) + a) >>> 0
    }
    return [a, b]
  }
}
