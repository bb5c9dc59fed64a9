import { type Figure, ms, percent, perSecond } from './figures.ts'
import { deviceId, fillLicenses, fillLongHistory, keyOf, productId } from './fill.ts'
import { rebuildAll, scratchLedger } from './ledger.ts'
import { bareAppends, eventStoreUrl, load, startFloor, startLedger } from './processes.ts'

const licenses = 60_000
const longLicense = 1_000_000
const shortLicense = 1_000_001
/** The bytes of a minted license and of an activated device in the log, data and metadata together. */
const mintedBytes = 850
const activatedBytes = 420

/** Commands against bare appends of events of the same size to the same store. */
export async function benchCommands(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log('filling')
    await fillLicenses(scratch.directory, 0, licenses)
    await fillLongHistory(scratch.directory, longLicense, 10_000)
    await fillLongHistory(scratch.directory, shortLicense, 10)
    await rebuildAll(scratch.directory)
    const ledger = await startLedger(scratch.directory)
    try {
      const { token } = scratch
      const url = ledger.address
      const store = eventStoreUrl(scratch.directory)
      await load({ url, token, kind: 'mint', seconds: 5 })
      const mint = await ratio(
        'mint',
        () => bareAppends(store, mintedBytes, 30_000),
        () => load({ url, token, kind: 'mint', seconds: 8 }),
        log,
      )
      const activate = await ratio(
        'activate',
        () => bareAppends(store, activatedBytes, 30_000),
        (round) => load({ url, token, kind: 'activate', ...share(round), seconds: 8 }),
        log,
      )
      const floor = await startFloor(scratch.directory, licenses)
      const measuring = ratio(
        'nothing but a look-up, an append and a row',
        () => bareAppends(store, activatedBytes, 30_000),
        () => load({ url: floor.address, token, kind: 'activate', to: licenses, seconds: 8 }),
        log,
      )
      try {
        await measuring
      } finally {
        await floor.stop()
      }
      const least = await measuring
      const client = await ratio(
        'client activate',
        () => bareAppends(store, activatedBytes, 30_000),
        (round) => load({ url, token, kind: 'client-activate', ...share(rounds + round), seconds: 8 }),
        log,
      )
      // One at a time, to compare durations.
      const long = await oneAtATime(url, token, longLicense)
      const short = await oneAtATime(url, token, shortLicense)
      log(`activate after 10,000 events ${ms(long)}, after 10 ${ms(short)}`)
      return [
        mint,
        activate,
        { ...least, bar: '', holds: true },
        client,
        {
          what: 'activate on a license with 10,000 events',
          measured: ms(long),
          against: `with 10 events ${ms(short)}`,
          ratio: `${(long / short).toFixed(2)} ×`,
          bar: '≤ 2 ×',
          holds: long <= 2 * short,
        },
      ]
    } finally {
      await ledger.stop()
    }
  } finally {
    scratch.remove()
  }
}

const rounds = 3

/**
 * Each round has its own licenses: otherwise the seats would run out, and a refusal costs less than an activation.
 */
function share(part: number): { from: number; to: number } {
  const each = licenses / (2 * rounds)
  return { from: part * each, to: (part + 1) * each }
}

async function ratio(
  what: string,
  bare: () => Promise<number>,
  own: (round: number) => Promise<{ perSecond: number; failed: number }>,
  log: (line: string) => void,
): Promise<Figure> {
  const results: { bare: number; own: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const appended = await bare()
    const done = await own(round)
    if (done.failed > 0) throw new Error(`${done.failed} of ${what} failed`)
    log(`bare append ${perSecond(appended)}, ${what} ${perSecond(done.perSecond)}`)
    results.push({ bare: appended, own: done.perSecond })
  }
  const reached = (result: { bare: number; own: number }) => result.own / result.bare
  const median = results.toSorted((a, b) => reached(a) - reached(b))[Math.floor(rounds / 2)]
  if (!median) throw new Error('no round was measured')
  return {
    what: `${what}, 64 at a time`,
    measured: perSecond(median.own),
    against: `bare append ${perSecond(median.bare)}`,
    ratio: percent(reached(median)),
    bar: '≥ 40 %',
    holds: reached(median) >= 0.4,
  }
}

/** The median duration of an activation that takes a seat; each is followed by a deactivation. */
async function oneAtATime(url: string, token: string, license: number): Promise<number> {
  const times: number[] = []
  const post = async (call: string) => {
    const body = { product_id: productId, license_key: keyOf(license), device_id: `${deviceId}-x`, name: 'X' }
    const response = await fetch(`${url}/v1/licenses/${call}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    await response.arrayBuffer()
  }
  for (let turn = 0; turn < 150; turn++) {
    const started = performance.now()
    await post('activate')
    times.push(performance.now() - started)
    await post('deactivate')
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
