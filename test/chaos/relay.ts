import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, call, type Life, live } from '../relay/lives.ts'
import type { RequestClaims } from '../relay/vendor.ts'
import { createRandom, type Random } from './random.ts'
import { checkLives, checkReported, checkStatus, wrongIn } from './relay-checks.ts'
import { openRelayStage, type RelayStage } from './relay-stage.ts'
import { createJournal, explained, startGuardian, type Violations } from './run.ts'

export type RelayOptions = {
  seed: number
  minutes: number
  devices: number
  onLine: (line: string) => void
}

const seats = 5
/** A whole period passes within a fault. */
const seatSeconds = 1
const periodMs = seatSeconds * 1000

const faultKinds = ['kill', 'fill disk', 'freeze', 'set clock', 'second process', 'renew'] as const
type RelayFault = (typeof faultKinds)[number]

export type RelaySummary = {
  seed: number
  seconds: number
  /** Answers by call and status; `lost` for none. */
  answers: Record<string, number>
  takings: number
  renewals: number
  faults: Partial<Record<RelayFault, number>>
  /** From the end of a fault to the next taking, kept seat or refusal. */
  longest_recovery_ms: number
  ended_by_itself: Record<string, number>
  violations: Violations
  /** The directory of the data and the log; null when there was no violation and they were removed. */
  kept: string | null
}

/** Runs a relay under load and faults, and checks what it answered against its certificate. */
export async function runRelayChaos(options: RelayOptions): Promise<RelaySummary> {
  const directory = mkdtempSync(join(tmpdir(), 'kl-chaos-'))
  const guardian = startGuardian(directory)
  const journal = createJournal(options.onLine)
  const stage = await openRelayStage(directory, { seats, seatSeconds }, (code, signal) =>
    journal.onEnded('the relay', code ?? signal, !explained.has(code)),
  )
  try {
    return await play(stage, directory, options, journal)
  } finally {
    await stage.relay.stop()
    if (journal.violations.length > 0) {
      stage.keep()
      guardian.stdin.write('keep\n')
    }
    guardian.stdin.end()
    await once(guardian, 'exit')
  }
}

type Journal = ReturnType<typeof createJournal>

async function play(
  stage: RelayStage,
  directory: string,
  { seed, minutes, devices, onLine: _ }: RelayOptions,
  journal: Journal,
): Promise<RelaySummary> {
  const random = createRandom(seed)
  const crowd = startCrowd(stage, devices, journal)
  const vendor = createRenewals(stage, directory, journal)
  const faults: RelaySummary['faults'] = {}
  let entries = 0
  let longest = 0
  const kinds = faultKinds.filter((kind) => kind !== 'fill disk' || stage.disk)
  if (!stage.disk) journal.say('No disk is filled: only root on Linux can mount the file systems for that.')
  if (!(await stage.isReady(30_000))) throw new Error(stage.log())
  while (journal.seconds() < minutes * 60 && !journal.signal.aborted) {
    const kind = random.pick(kinds)
    faults[kind] = (faults[kind] ?? 0) + 1
    await inject(kind, { stage, random, journal, renew: vendor.renew })
    longest = Math.max(longest, await recovery(stage, crowd.lastAnswer, journal))
    const status = checkStatus(await stage.command(['status', '--json']), entries)
    entries = status.entries
    const found = [...status.violations, ...checkLives(crowd.lives, seats)]
    found.forEach(journal.onViolation)
    await sleep(random.between(0, 1000))
  }
  await crowd.end()
  await comeToRest(stage, vendor, crowd, journal)
  return {
    seed,
    seconds: journal.seconds(),
    answers: crowd.answers,
    takings: crowd.lives.length,
    renewals: vendor.renewals(),
    faults,
    longest_recovery_ms: Math.round(longest),
    ended_by_itself: journal.endings,
    violations: journal.violations,
    kept: journal.violations.length > 0 ? directory : null,
  }
}

/** Devices that use the relay until they are told to end. */
function startCrowd({ vendor, address }: RelayStage, devices: number, { onViolation }: Journal) {
  const stop = new AbortController()
  const lives: Life[] = []
  const answers: Record<string, number> = {}
  let answeredAt = performance.now()
  const onAnswer = (name: string, answered: Answered | undefined) => {
    const what = `${name} ${answered ? String(answered.status) : 'lost'}`
    answers[what] = (answers[what] ?? 0) + 1
    if (answered && answered.status !== 503) answeredAt = performance.now()
    const wrong = wrongIn(name, answered)
    if (wrong) onViolation(wrong)
  }
  const onRobbed = ({ instanceId, until }: Life) =>
    onViolation({
      what: `the seat of ${instanceId}`,
      expected: `its device keeps it for ${String(Math.round(until - performance.now()))} ms more`,
      found: 'it was lost',
    })
  const { licenseKey } = vendor
  const crowd = { licenseKey, periodMs, addressOf: () => address, signal: stop.signal, lives }
  const running = Array.from({ length: devices }, (_, number) =>
    live({ ...crowd, onAnswer, onRobbed }, number),
  )
  return {
    lives,
    answers,
    lastAnswer: () => answeredAt,
    async end() {
      stop.abort()
      await Promise.all(running)
    },
  }
}

/** The vendor's side of renewals, as files carry them. */
function createRenewals({ command, vendor }: RelayStage, directory: string, { onViolation, say }: Journal) {
  const reported = new Map<number, RequestClaims['minutes'][number]>()
  let renewals = 0
  const keep = (minutes: RequestClaims['minutes']) => {
    for (const each of minutes) reported.set(each[0], each)
  }
  return {
    reported,
    keep,
    renewals: () => renewals,
    /** @param killAfterMs of the two commands; undefined for one that may finish */
    async renew(killAfterMs: readonly [number | undefined, number | undefined]) {
      const asked = await command(['renew'], killAfterMs[0])
      if (!asked.stdout.includes('END KEYLEDGER RELAY REQUEST'))
        return say(`  no request: ${asked.stderr.trim()}`)
      try {
        const answer = vendor.answer(asked.stdout, { seatSeconds })
        keep(vendor.readRequest(asked.stdout).minutes)
        const path = join(directory, 'answer')
        writeFileSync(path, answer)
        const accepted = await command(['accept', path], killAfterMs[1])
        if (accepted.code === 0) renewals++
        else say(`  not accepted: ${accepted.stderr.trim()}`)
      } catch (error) {
        onViolation({ what: 'a request', expected: 'a chain that continues', found: String(error) })
      }
    },
  }
}

type Injecting = {
  stage: RelayStage
  random: Random
  journal: Journal
  renew: (killAfterMs: readonly [number | undefined, number | undefined]) => Promise<void>
}

/** Plays one fault, and ends it. */
async function inject(kind: RelayFault, { stage, random, journal, renew }: Injecting): Promise<void> {
  const { relay, disk, command, setClock } = stage
  const lasts = random.between(100, 3000)
  journal.say(`${kind}, ${String(lasts)} ms`)
  switch (kind) {
    case 'kill':
      return relay.kill(random.chance(0.5) ? 0 : lasts)
    case 'freeze':
      relay.freeze()
      await sleep(lasts)
      return relay.resume()
    case 'fill disk': {
      disk?.fill()
      // A relay that is started meanwhile, and a renewal.
      if (random.chance(0.3)) await relay.kill(0)
      if (random.chance(0.3)) await renew([undefined, undefined])
      await sleep(lasts)
      return disk?.heal()
    }
    case 'set clock': {
      const [hour, day] = [3_600_000, 86_400_000]
      setClock(random.pick([-30 * day, -day, -hour, -1000, 1000, hour, day - hour]))
      await sleep(lasts)
      if (random.chance(0.3)) await relay.kill(0)
      return setClock(0)
    }
    case 'second process': {
      const { code, stderr } = await command(['serve', '--port', '0'], 20_000)
      if (code === 3 && stderr.includes('Another process uses')) return
      journal.onViolation({
        what: 'a second process',
        expected: 'the exit code 3',
        found: `${String(code)} ${stderr}`,
      })
      return
    }
    case 'renew': {
      const soon = () => (random.chance(0.3) ? random.between(1, 1500) : undefined)
      return renew([soon(), soon()])
    }
  }
}

/** How long after a fault the relay serves again; a violation when that takes too long. */
async function recovery(stage: RelayStage, lastAnswer: () => number, journal: Journal): Promise<number> {
  const healed = performance.now()
  while (lastAnswer() < healed) {
    if (performance.now() - healed > 30_000) {
      const found = stage.log().slice(-500)
      journal.onViolation({ what: 'the relay', expected: 'to serve within 30 s', found })
      break
    }
    await sleep(10)
  }
  return performance.now() - healed
}

/** After the load every seat runs out; then the relay gives all of them out again, and its report is complete. */
async function comeToRest(
  stage: RelayStage,
  { keep, reported, renew }: ReturnType<typeof createRenewals>,
  { lives }: ReturnType<typeof startCrowd>,
  { onViolation }: Journal,
): Promise<void> {
  await renew([undefined, undefined])
  await sleep(3 * periodMs)
  const asked = { license_key: stage.vendor.licenseKey, lease_version: 2 }
  for (let device = 0; device <= seats; device++) {
    const answered = await call(stage.address, 'activate', {
      ...asked,
      instance_name: `last ${String(device)}`,
    })
    const expected = device < seats ? 200 : 422
    if (answered?.status !== expected)
      onViolation({ what: 'a seat at the end', expected: String(expected), found: JSON.stringify(answered) })
  }
  await sleep(3 * periodMs)
  const { code, stdout, stderr } = await stage.command(['release'])
  if (code !== 0) return onViolation({ what: 'the release', expected: 'none in use', found: stderr })
  keep(stage.vendor.readRelease(stdout).minutes)
  checkReported(reported, lives, seats).forEach(onViolation)
}
