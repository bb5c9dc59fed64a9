import { closeSync, openSync, writeSync } from 'node:fs'
import { maskedKey } from '../credentials/license-key.ts'
import { csvLine } from '../http/csv.ts'

/** What became of a license or an organization that was not taken whole. An organization has no key. */
export type ReportLine = {
  from: string
  externalId: string | null
  licenseKey: string | null
  outcome: 'left_out' | 'taken_in_part'
  reason: string
}

/** Writes down what could not be taken, and why. */
export type Report = { add(line: ReportLine): void; close(): void }

const columns = ['from', 'externalId', 'key', 'outcome', 'reason'] as const

/** Used when no report is asked for. */
export const noReport: Report = { add: () => undefined, close: () => undefined }

/**
 * Writes to a file that only its owner can read, as CSV if its name ends with .csv, else as JSON lines. An earlier
 * report is replaced. Keys are masked.
 * @throws the file system's error when the file cannot be written
 */
export function openReport(path: string): Report {
  const file = openSync(path, 'w', 0o600)
  const isCsv = path.toLowerCase().endsWith('.csv')
  if (isCsv) writeSync(file, csvLine(columns))
  return {
    add({ licenseKey, ...line }) {
      const shown = { ...line, key: licenseKey === null ? null : maskedKey(licenseKey) }
      writeSync(file, isCsv ? csvLine(columns.map((column) => shown[column])) : `${JSON.stringify(shown)}\n`)
    },
    close: () => closeSync(file),
  }
}

/** How often something happened, with the first examples. */
type Counted = { text: string; times: number; examples: string[] }

/** What happened to how many licenses, with the first examples. */
export type Reason = Omit<Counted, 'times'> & { licenses: number }

/** The same of organizations. */
export type OrganizationReason = Omit<Counted, 'times'> & { organizations: number }

const maxExamples = 3
/** Sentences of other systems' texts could be all different. */
const maxReasons = 200

/** Counts sentences; those that differ in numbers alone count as one. */
export function createReasons() {
  const reasons = new Map<string, Counted>()
  return {
    add(text: string, from: string): void {
      const kept = text.replaceAll(/\d+/g, '0')
      const kind = reasons.has(kept) || reasons.size < maxReasons ? kept : 'other'
      const reason = reasons.get(kind) ?? {
        text: kind === 'other' ? 'Other reasons.' : text,
        times: 0,
        examples: [],
      }
      reason.times++
      if (reason.examples.length < maxExamples) reason.examples.push(from)
      reasons.set(kind, reason)
    },
    /** The most frequent first. */
    all: (): Counted[] => [...reasons.values()].toSorted((one, other) => other.times - one.times),
  }
}

/** What an import did, or would do. */
export type Tally = {
  /** Read from the export, those of other products included. */
  licenses: number
  /** New licenses. */
  imported: number
  /** Imported by an earlier run, and left as they are. */
  alreadyThere: number
  /** Not taken. */
  leftOut: number
  /** Of products that are not imported. */
  otherProducts: number
  /** Devices of the new licenses. */
  devices: number
  /** Those of these devices that are recognized by their machine or its components. */
  identified: number
  /** The new licenses by their state in the other system. */
  byStatus: Record<string, number>
  /** Why licenses are not taken. */
  reasons: Reason[]
  /** What is left out of licenses that are taken. */
  notes: Reason[]
  organizations: OrganizationTally
}

/** The same of organizations. */
export type OrganizationTally = {
  /** New organizations. */
  imported: number
  /** Imported by an earlier run, or named by the operator, and left as they are. */
  alreadyThere: number
  leftOut: number
  /** In the new organizations. */
  people: number
  reasons: OrganizationReason[]
  notes: OrganizationReason[]
}
