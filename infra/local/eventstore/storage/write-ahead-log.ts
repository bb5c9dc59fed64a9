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
  const log = existsSync(path) ? parseLog(readFileSync(path)) : undefined
  if (!log) return undefined
  let wrong = 0
  while (wrong < log.frames && log.isGood(wrong)) wrong += 1
  // The wrong part may be the frame's own checksum, which the check of the next frame uses.
  return log.commitsFrom(wrong + 1) >= 2 || log.commitsFrom(wrong + 2) >= 2 ? log.offsetOf(wrong) : undefined
}

type Checksum = readonly [number, number]

type Log = {
  frames: number
  offsetOf(frame: number): number
  /**
   * Whether a frame belongs to this log instead of an overwritten one, and its checksum follows from the frame
   * before.
   */
  isGood(frame: number): boolean
  /** The number of commits in the consecutive good frames from here. */
  commitsFrom(frame: number): number
}

/** @returns undefined when the header is invalid, and SQLite ignores the whole log */
function parseLog(content: Buffer): Log | undefined {
  if (content.length < headerBytes) return undefined
  const magic = content.readUInt32BE(0)
  if ((magic & ~1) !== walMagic) return undefined
  const pageBytes = content.readUInt32BE(8)
  const frameBytes = frameHeaderBytes + pageBytes
  const frames = Math.floor((content.length - headerBytes) / frameBytes)
  const sum = checksums(content, (magic & 1) === 0)
  if (!equals(sum([0, 0], 0, 24), checksumAt(content, 24))) return undefined

  const offsetOf = (frame: number): number => headerBytes + frame * frameBytes

  function isGood(frame: number): boolean {
    const offset = offsetOf(frame)
    if (content.compare(content, 16, 24, offset + 8, offset + 16) !== 0) return false
    const before = checksumAt(content, frame === 0 ? 24 : offsetOf(frame - 1) + 16)
    const header = sum(before, offset, 8)
    return equals(sum(header, offset + frameHeaderBytes, pageBytes), checksumAt(content, offset + 16))
  }

  function commitsFrom(frame: number): number {
    let commits = 0
    for (let next = frame; next < frames && isGood(next); next += 1) {
      if (content.readUInt32BE(offsetOf(next) + 4) !== 0) commits += 1
    }
    return commits
  }

  return { frames, offsetOf, isGood, commitsFrom }
}

/** Continues a checksum over a part of the content. */
function checksums(content: Buffer, littleEndian: boolean) {
  const words = new DataView(content.buffer, content.byteOffset, content.byteLength)
  return ([first, second]: Checksum, offset: number, length: number): Checksum => {
    let a = first
    let b = second
    for (let at = offset; at < offset + length; at += 8) {
      a = (a + words.getUint32(at, littleEndian) + b) >>> 0
      b = (b + words.getUint32(at + 4, littleEndian) + a) >>> 0
    }
    return [a, b]
  }
}

const checksumAt = (content: Buffer, offset: number): Checksum => [
  content.readUInt32BE(offset),
  content.readUInt32BE(offset + 4),
]

const equals = (some: Checksum, other: Checksum): boolean => some[0] === other[0] && some[1] === other[1]
