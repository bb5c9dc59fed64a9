import { type Figure, percent, perSecond } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { type Replayed, readAll, rebuildAll, replayAll, scratchLedger } from './ledger.ts'

const eventsOfLicense = 2

/** Replays the whole log twice: into tables that replace the live ones, and into tables to compare with them. */
export async function benchReplay(log: (line: string) => void, events: number): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log(`filling ${events.toLocaleString('en-US')} events`)
    await fillLicenses(scratch.directory, 0, Math.ceil(events / eventsOfLicense))
    const rebuilt = await rebuildAll(scratch.directory)
    log(`rebuild ${perSecond(rebuilt.perSecond)}`)
    const read = await readAll(scratch.directory)
    log(`reading alone ${perSecond(read.perSecond)}`)
    const replayed = await replayAll(scratch.directory)
    log(`audit replay ${perSecond(replayed.perSecond)}`)
    return [
      ...figures('rebuild of all read models', rebuilt, read, 10_000),
      ...figures('audit replay, compared', replayed, read, 15_000),
    ]
  } finally {
    scratch.remove()
  }
}

function figures(
  what: string,
  { events, perSecond: rate, earlyMiB, lateMiB }: Replayed,
  read: Replayed,
  bar: number,
): Figure[] {
  return [
    {
      what,
      measured: perSecond(rate),
      against: `${events.toLocaleString('en-US')} events, reading alone ${perSecond(read.perSecond)}`,
      ratio: percent(rate / read.perSecond),
      bar: `≥ ${perSecond(bar)}`,
      holds: rate >= bar,
    },
    {
      what: `${what}, memory`,
      measured: `${Math.round(lateMiB)} MiB at the end`,
      against: `${Math.round(earlyMiB)} MiB at a fifth`,
      ratio: percent(lateMiB / earlyMiB),
      bar: 'flat (≤ 125 %)',
      holds: lateMiB <= 1.25 * earlyMiB,
    },
  ]
}
