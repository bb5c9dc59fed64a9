/** A license file that was made for the device in a seat. */
export type SeatFile = {
  fileId: string
  /** The public key of the device, base64url: what it signs with this key, nobody else can ask. */
  deviceKey: string
  nonce: string
  counter: number
  /** Of two files of a device, the one with the higher serial is newer. */
  serial: number
  /** The license's key at that time. */
  keyHash: string
  issuedAt: string
  endsAt: string
  /** When a newer file was made for the device. */
  replacedAt: string | null
  /** When the device gave it back. */
  releasedAt: string | null
}

/** How many files a license got, by the day in UTC, as far as it still counts. */
export type FilesOfYear = { filesByDay: Readonly<Record<string, number>> | null }

const yearMs = 365 * 86_400_000

/** How many files a license got within a year before a moment. */
export const filesWithinYear = ({ filesByDay }: FilesOfYear, at: string): number =>
  Object.entries(filesByDay ?? {})
    .filter(([day]) => isWithinYear(day, at))
    .reduce((sum, [, count]) => sum + count, 0)

/** Whether a file can be used on its device: nobody can shorten what was signed, but the device can give it back. */
export const isLive = (file: SeatFile, at: string): boolean =>
  file.releasedAt === null && file.replacedAt === null && at < file.endsAt

/** The file that keeps a seat taken; undefined without one. */
export const liveFile = (files: readonly SeatFile[] | null, at: string): SeatFile | undefined =>
  files?.find((file) => isLive(file, at))

/** When the file ends that keeps a seat taken, or has kept it; null without one. */
export const keptUntil = (files: readonly SeatFile[] | null): string | null =>
  files?.findLast(({ releasedAt, replacedAt }) => releasedAt === null && replacedAt === null)?.endsAt ?? null

export const isWithinYear = (moment: string, at: string): boolean =>
  Date.parse(at) - Date.parse(moment) < yearMs

/** The counts with one more file; what no longer counts is left out. */
export const withFile = ({ filesByDay }: FilesOfYear, at: string): Record<string, number> => {
  const day = at.slice(0, 10)
  const counted = Object.entries(filesByDay ?? {}).filter(([each]) => isWithinYear(each, at))
  const byDay = Object.fromEntries(counted)
  return { ...byDay, [day]: (byDay[day] ?? 0) + 1 }
}

/** The files of a seat with a new one, which replaces the last; those that ended and no longer count are left out. */
export const filesWith = (
  files: readonly SeatFile[] | null,
  file: Omit<SeatFile, 'replacedAt' | 'releasedAt'>,
): SeatFile[] => {
  const at = file.issuedAt
  const kept = (files ?? []).filter((each) => isWithinYear(each.issuedAt, at) || each.endsAt > at)
  const replaced = kept.map((each) => (isLive(each, at) ? { ...each, replacedAt: at } : each))
  return [...replaced, { ...file, replacedAt: null, releasedAt: null }]
}

/**
 * The files of a device that it must not use any more, whatever becomes of the license: those before its present key of its own,
 * and the one that was given back with all before it, since a restored copy of the machine may still have them.
 */
function ownWithdrawn(files: readonly SeatFile[]): SeatFile[] {
  const present = files.at(-1)?.deviceKey
  const givenBack = files.findLastIndex(({ releasedAt }) => releasedAt !== null)
  return files.filter(({ deviceKey }, index) => index <= givenBack || deviceKey !== present)
}

/** Whether a license withdraws all of its files. */
export const isBarred = ({
  revokedAt,
  suspendedAt,
}: {
  revokedAt: string | null
  suspendedAt: string | null
}) => revokedAt !== null || suspendedAt !== null

/** When the last of the files ends that a device withdraws, whatever becomes of the license; null without any. */
export const withdrawnUntil = (files: readonly SeatFile[]): string | null =>
  ownWithdrawn(files).reduce<string | null>(
    (until, { endsAt }) => (until === null || endsAt > until ? endsAt : until),
    null,
  )

/**
 * The files that must no longer be used although they have not ended: all of a license that is revoked or suspended, those
 * for a key that was replaced, and those that their device withdraws.
 */
export function withdrawnFiles(
  files: readonly SeatFile[],
  license: { keyHash: string; revokedAt: string | null; suspendedAt: string | null },
  now: string,
): SeatFile[] {
  const own = new Set(ownWithdrawn(files))
  return files.filter(
    (file) => now < file.endsAt && (isBarred(license) || file.keyHash !== license.keyHash || own.has(file)),
  )
}

export const fileStates = ['live', 'replaced', 'released', 'ended', 'withdrawn'] as const
export type FileState = (typeof fileStates)[number]

/** What a file is worth at a moment. @param ofDevice all files of its device, the newest last */
export function stateOfFile(
  file: SeatFile,
  license: Parameters<typeof withdrawnFiles>[1],
  ofDevice: readonly SeatFile[],
  now: string,
): FileState {
  if (file.releasedAt !== null) return 'released'
  if (now >= file.endsAt) return 'ended'
  if (withdrawnFiles(ofDevice, license, now).some(({ fileId }) => fileId === file.fileId)) return 'withdrawn'
  return file.replacedAt === null ? 'live' : 'replaced'
}
