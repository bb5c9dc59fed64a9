import { countedUse } from '../../src/domain/meters/counted-use.ts'
import { type Line, linesOf } from '../../src/domain/meters/lines.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Statement } from '../statements.ts'
import { defineTable } from '../table.ts'

/**
 * What was used under a meter in each hour, and in each day, in UTC: amounts in millionths of the unit. Only those have a row in which something
 * was counted. The hours are no more than the lines that they add up, and a year of days is read at once.
 */
const useTable = (name: 'meter_hours' | 'meter_days') =>
  defineTable(
    name,
    {
      stream: 'text not null',
      /** Of a meter that licenses share, the one that used it; else empty. */
      licenseId: 'text not null',
      /** The start. */
      at: 'timestamptz not null',
      used: 'numeric not null',
      overage: 'numeric not null',
    },
    { key: ['stream', 'licenseId', 'at'], over: 'sum', fillFactor: 70 },
  )

export const meterHours = useTable('meter_hours')
export const meterDays = useTable('meter_days')

/** The statements that count the uses in these entries, in the transaction in which their lines are written. */
export function writesOfUse(entries: readonly Recorded[]): Statement[] {
  const uses = entries.flatMap((entry) =>
    entry.category === 'meter' ? linesOf(entry.event).flatMap((line) => usedIn(entry.stream, line)) : [],
  )
  const by = (startOf: (at: string) => string) => uses.map((use) => ({ ...use, at: startOf(use.at) }))
  return [...meterHours.write(by(hourOf)), ...meterDays.write(by(dayOf))]
}

function usedIn(stream: string, line: Line) {
  const use = countedUse(line)
  return use
    ? [
        {
          stream,
          licenseId: line.licenseId ?? '',
          at: use.at,
          used: String(use.used),
          overage: String(use.overage),
        },
      ]
    : []
}

const hourOf = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh'.length)}:00:00.000Z`
const dayOf = (at: string): string => `${at.slice(0, 'yyyy-mm-dd'.length)}T00:00:00.000Z`
