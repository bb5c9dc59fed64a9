import { closeSync, openSync, writeSync } from 'node:fs'
import { maskedKey } from '../credentials/license-key.ts'
import { csvLine } from '../http/csv.ts'

/** What became of a license that was not taken whole. */
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
