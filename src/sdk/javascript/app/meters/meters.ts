import type { Client } from '../client.ts'
import { insideOf } from '../inside.ts'
import { fullJitter } from '../problem.ts'
import { openOf, timeIn, totalLeft, verifiedIn } from './allowances.ts'
import { amountText } from './amount.ts'
import { holderNow } from './asking.ts'
import { createKeep } from './keep.ts'
import { type RefusedUse, type Reported, report } from './reporting.ts'
import type { JournalStorage } from './storage.ts'
import { type Reserved, record, reserve, type Used, type UseOptions, use } from './using.ts'

export type MeterOptions = {
  /** Where the device keeps what it has used and may use. It is apart from the storage of the client, and any number of processes may share it. */
  journal: JournalStorage
  /** How often what is journaled is reported; every minute when absent. */
  reportSeconds?: number
  /** Called for each use that was made and is not counted, for good. */
  onRefused?: (use: RefusedUse) => void
  /** Called when the journal cannot be read or written in the background. */
  onError?: (error: unknown) => void
}

/** A meter of the license on this device. */
export type DeviceMeter = {
  /**
   * Uses an amount: from what the device may spend without a network, or else as the server allows.
   * @param amount a positive decimal number in a string, with up to 6 places
   * @throws TypeError for another amount; Error when the journal cannot be written
   */
  use(amount: string, options?: UseOptions): Promise<Used>
  /** Journals what was used already, to be reported later, also where nothing may be left. @throws as {@link DeviceMeter.use} */
  record(amount: string, options?: UseOptions): ReturnType<typeof record>
  /**
   * Gets an amount to spend without a network. It ends with the period of the meter at the latest.
   * @param seconds for how long: 60 to 2,678,400 (31 days)
   * @throws as {@link DeviceMeter.use}
   */
  reserve(amount: string, seconds: number): Promise<Reserved>
  /** Spends nothing more of what is reserved, and gives the rest back once its uses are reported. @throws Error when the journal cannot be written */
  giveBack(): Promise<Reported>
  /** What is left to spend without a network, and how much is not reported yet. @throws Error when the journal cannot be read */
  standing(): Promise<{ reserved: string; unreported: number }>
}

export type DeviceMeters = {
  meter(id: string): DeviceMeter
  /** Reports what is journaled now. @throws Error when the journal cannot be read or written */
  report(): Promise<Reported>
  /** Reports in the background, and after failures with growing pauses. */
  start(): void
  stop(): void
}

const longestPauseMs = 3_600_000

/**
 * The meters of a client's license: what the device uses is journaled, counted once, and reported when the server can be reached.
 * @throws TypeError for a client of another kind
 */
export function createMeters(client: Client, options: MeterOptions): DeviceMeters {
  const { ports, clock, random } = insideOf(client)
  const { journal, reportSeconds = 60, onRefused = () => undefined, onError = () => undefined } = options
  const keep = createKeep(journal)
  let reporting: Promise<Reported> | undefined
  let running = 0
  let cancel = (): void => undefined

  const reportOnce = (): Promise<Reported> => {
    reporting ??= report(ports, keep).finally(() => {
      reporting = undefined
    })
    return reporting.then((reported) => {
      for (const each of reported.refused) onRefused(each)
      return reported
    })
  }
  async function again(run: number, failures: number): Promise<void> {
    const reported = await reportOnce().catch((error: unknown) => {
      onError(error)
      return undefined
    })
    if (run !== running) return
    const failed = !reported?.ok
    const asked = reported?.ok === false ? (reported.problem.retryAfterMs ?? 0) : 0
    const pause = failed ? asked + fullJitter(failures, 5000, longestPauseMs, random) : 0
    cancel = clock.after(reportSeconds * 1000 + pause, () => void again(run, failed ? failures + 1 : 0), true)
  }
  const stop = () => {
    running++
    cancel()
  }

  return {
    meter: (id) => ({
      use: (amount, more = {}) => use(ports, keep, id, amount, more),
      record: (amount, more = {}) => record(ports, keep, id, amount, more),
      reserve: (amount, seconds) => reserve(ports, keep, id, amount, seconds),
      async giveBack() {
        const facts = await ports.keeper.load()
        await keep.change((before) => {
          const own = new Set(
            verifiedIn(before, ports, facts).flatMap(({ held, claim }) =>
              claim.meter === id ? [held.token] : [],
            ),
          )
          const allowances = before.allowances.map((held) =>
            own.has(held.token) ? { ...held, isReturned: true } : held,
          )
          return { journal: { ...before, allowances }, value: undefined }
        })
        return reportOnce()
      },
      async standing() {
        const holder = await holderNow(ports)
        const facts = await ports.keeper.load()
        const now = await keep.read()
        const time = timeIn(now, facts, ports.keeper.now())
        const open = 'reason' in holder ? [] : openOf(verifiedIn(now, ports, facts), id, holder, time)
        const unreported = now.entries.filter(({ meter }) => meter === id).length
        return { reserved: amountText(totalLeft(open)), unreported }
      },
    }),
    report: reportOnce,
    start() {
      stop()
      void again(running, 0)
    },
    stop,
  }
}
