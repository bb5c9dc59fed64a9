import { type Figure, ms, percent, perSecond } from './figures.ts'
import { fillLicenses } from './fill.ts'
import { rebuildAll, scratchLedger } from './ledger.ts'
import { type Load, load, residentMiB, startBare, startFloor, startLedger } from './processes.ts'

const few = 100_000
const many = 1_000_000
/** Many short rounds, because the speed of the machine varies. */
const rounds = 9
const roundSeconds = 3

/** Validate against a bare route, with 100,000 and 1,000,000 licenses, and the rebuilds in between. */
export async function benchValidate(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log(`filling ${few.toLocaleString('en-US')} licenses`)
    await fillLicenses(scratch.directory, 0, few)
    await rebuildAll(scratch.directory)
    const small = await compare(scratch, few, log)
    const least = await compare(scratch, few, log, { of: 'floor' })
    const client = await compare(scratch, few, log, { kind: 'client-validate' })
    const leastOfClient = await compare(scratch, few, log, { kind: 'client-validate', of: 'floor' })
    log(`filling up to ${many.toLocaleString('en-US')} licenses`)
    await fillLicenses(scratch.directory, few, many)
    const rebuilt = await rebuildAll(scratch.directory)
    log(`rebuild: ${perSecond(rebuilt.perSecond)}`)
    const large = await compare(scratch, many, log)
    const memory = await millionRequests(scratch, many, log)
    return [
      {
        what: 'validate, 100,000 licenses',
        measured: perSecond(small.own.perSecond),
        against: `bare route ${perSecond(small.bare.perSecond)}`,
        ratio: percent(small.share),
        bar: '≥ 60 %',
        holds: small.share >= 0.6,
      },
      {
        what: 'validate with nothing but the look-up',
        measured: perSecond(least.own.perSecond),
        against: `bare route ${perSecond(least.bare.perSecond)}`,
        ratio: percent(least.share),
        bar: '',
        holds: true,
      },
      {
        what: 'client validate with lease and settings, 100,000 licenses',
        measured: perSecond(client.own.perSecond),
        against: `bare route ${perSecond(client.bare.perSecond)}`,
        ratio: percent(client.share),
        bar: '≥ 50 %',
        holds: client.share >= 0.5,
      },
      {
        what: 'client validate with nothing but the look-up and the signature',
        measured: perSecond(leastOfClient.own.perSecond),
        against: `bare route ${perSecond(leastOfClient.bare.perSecond)}`,
        ratio: percent(leastOfClient.share),
        bar: '',
        holds: true,
      },
      {
        what: 'validate, p99',
        measured: ms(small.own.p99Ms),
        against: `bare route ${ms(small.bare.p99Ms)}`,
        ratio: `${(small.own.p99Ms / small.bare.p99Ms).toFixed(1)} ×`,
        bar: '≤ 3 ×',
        holds: small.own.p99Ms <= 3 * small.bare.p99Ms,
      },
      {
        what: 'validate, 1,000,000 licenses',
        measured: percent(large.share),
        against: `100,000 licenses: ${percent(small.share)}`,
        ratio: percent(large.share / small.share),
        bar: '≥ 90 %',
        holds: large.share >= 0.9 * small.share,
      },
      {
        what: 'rebuild of all read models',
        measured: perSecond(rebuilt.perSecond),
        against: `${rebuilt.events.toLocaleString('en-US')} events`,
        ratio: '',
        bar: '≥ 10,000/s',
        holds: rebuilt.perSecond >= 10_000,
      },
      {
        what: 'rebuild, memory',
        measured: `${Math.round(rebuilt.lateMiB)} MiB at the end`,
        against: `${Math.round(rebuilt.earlyMiB)} MiB at a fifth`,
        ratio: percent(rebuilt.lateMiB / rebuilt.earlyMiB),
        bar: 'flat (≤ 125 %)',
        holds: rebuilt.lateMiB <= 1.25 * rebuilt.earlyMiB,
      },
      memory,
    ]
  } finally {
    scratch.remove()
  }
}

type Scratch = { directory: string; token: string }

/** Both are measured alternately, so that a slower machine affects both; the medians are compared. */
async function compare(
  scratch: Scratch,
  licenses: number,
  log: (line: string) => void,
  {
    kind = 'validate',
    of = 'ledger',
  }: { kind?: 'validate' | 'client-validate'; of?: 'ledger' | 'floor' } = {},
) {
  const bare = await startBare()
  // Both servers need the stores of the ledger.
  const ledger = await startLedger(scratch.directory)
  const measured = of === 'floor' ? await startFloor(scratch.directory, licenses) : ledger
  const results: { bare: Load; own: Load }[] = []
  try {
    const options = { token: scratch.token, kind, to: licenses }
    // Until the tables are in the cache of Postgres.
    await load({ ...options, url: measured.address, seconds: licenses > few ? 30 : 5 })
    for (let round = 0; round < rounds; round++) {
      const ofBare = await load({ ...options, url: bare.address, seconds: roundSeconds })
      const own = await load({ ...options, url: measured.address, seconds: roundSeconds })
      if (own.failed > 0) throw new Error(`${own.failed} of ${kind} failed`)
      log(`bare ${perSecond(ofBare.perSecond)}, ${kind} of the ${of} ${perSecond(own.perSecond)}`)
      results.push({ bare: ofBare, own })
    }
  } finally {
    await bare.stop()
    if (measured !== ledger) await measured.stop()
    await ledger.stop()
  }
  const share = ({ bare, own }: { bare: Load; own: Load }) => own.perSecond / bare.perSecond
  const median = results.toSorted((a, b) => share(a) - share(b))[Math.floor(rounds / 2)]
  if (!median) throw new Error('no round was measured')
  return { ...median, share: share(median) }
}

async function millionRequests(
  scratch: Scratch,
  licenses: number,
  log: (line: string) => void,
): Promise<Figure> {
  const ledger = await startLedger(scratch.directory)
  try {
    log('1,000,000 requests')
    await load({
      url: ledger.address,
      token: scratch.token,
      kind: 'validate',
      to: licenses,
      requests: 1_000_000,
    })
    const resident = residentMiB(ledger.pid)
    return {
      what: 'app process after 1,000,000 requests',
      measured: `${Math.round(resident)} MiB`,
      against: '',
      ratio: '',
      bar: '< 400 MiB',
      holds: resident < 400,
    }
  } finally {
    await ledger.stop()
  }
}
