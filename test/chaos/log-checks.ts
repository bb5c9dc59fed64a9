import { deviceLimit, type LogLine } from './operator-commands.ts'

/** What was expected, and what was found instead. */
export type Violation = { what: string; expected: string; found: string }

const isCalled = (type: string) => (line: LogLine) => line.type === type

/** Checks the invariants of the log, independent of what was acknowledged. */
export function checkLog(log: readonly LogLine[]): Violation[] {
  return [
    ...checkOrder(log),
    ...[...Map.groupBy(log, ({ stream }) => stream)].flatMap(([stream, lines]) => [
      ...checkStream(stream, lines),
      ...(stream.startsWith('license-') ? checkLicense(stream, lines) : []),
      ...(stream.startsWith('delivery-') ? checkDelivery(stream, lines) : []),
      ...(stream.startsWith('confirmation-') ? checkConfirmation(stream, lines) : []),
    ]),
  ]
}

function checkOrder(log: readonly LogLine[]): Violation[] {
  const faults: Violation[] = []
  const ids = new Set<string>()
  let last = -1n
  for (const { id, stream, position } of log) {
    if (ids.has(id)) faults.push({ what: stream, expected: 'each event id once', found: `${id} twice` })
    ids.add(id)
    if (BigInt(position) <= last) {
      faults.push({ what: stream, expected: `a position after ${last}`, found: position })
    }
    last = BigInt(position)
  }
  return faults
}

function checkStream(stream: string, lines: readonly LogLine[]): Violation[] {
  const revisions = lines.map(({ revision }) => revision)
  const isGapless = revisions.every((revision, index) => revision === index)
  return isGapless
    ? []
    : [{ what: stream, expected: 'revisions from 0 without a gap', found: revisions.join() }]
}

function checkLicense(stream: string, lines: readonly LogLine[]): Violation[] {
  const faults: Violation[] = []
  const fail = (expected: string, found: string) => faults.push({ what: stream, expected, found })
  const minted = lines.filter(isCalled('LicenseMinted')).length
  if (minted !== 1) fail('one LicenseMinted', String(minted))
  const revoked = lines.findIndex(isCalled('LicenseRevoked'))
  const late = revoked === -1 ? [] : lines.slice(revoked).filter(isCalled('DeviceActivated'))
  if (late.length > 0) fail('no activation after LicenseRevoked', `${late.length}`)
  const active = new Set<unknown>()
  for (const { type, data, revision } of lines) {
    const { deviceId } = data
    if (type === 'DeviceActivated') {
      if (active.has(deviceId)) fail('no second activation of an active device', `revision ${revision}`)
      active.add(deviceId)
      if (active.size > deviceLimit) fail(`at most ${deviceLimit} seats`, `${active.size} at ${revision}`)
    }
    if (type === 'DeviceDeactivated' && !active.delete(deviceId)) {
      fail('no deactivation of a device that is not active', `revision ${revision}`)
    }
  }
  return faults
}

function checkDelivery(stream: string, lines: readonly LogLine[]): Violation[] {
  const faults: Violation[] = []
  let hasEnded = false
  let attempts = 0
  for (const { type, data } of lines) {
    if (hasEnded && type !== 'RedeliveryAsked') {
      faults.push({ what: stream, expected: 'nothing after its end', found: type })
    }
    if (type === 'RedeliveryAsked') hasEnded = false
    if (type === 'DeliverySucceeded' || type === 'DeliveryAbandoned') hasEnded = true
    if (isAttempt(type) && data.attempt !== ++attempts) {
      faults.push({ what: stream, expected: `attempt ${attempts}`, found: String(data.attempt) })
    }
  }
  return faults
}

/** Whether an event records an attempt of a delivery, with its result or without. */
export const isAttempt = (type: string): boolean =>
  type === 'DeliveryAttempted' || type === 'DeliveryAttemptInterrupted'

function checkConfirmation(stream: string, lines: readonly LogLine[]): Violation[] {
  const consumed = lines.filter(isCalled('ConfirmationConsumed')).length
  const executed = lines.filter(isCalled('ConfirmationExecuted')).length
  if (consumed === executed && consumed <= 1) return []
  const found = `${consumed} consumed, ${executed} executed`
  return [{ what: stream, expected: 'executed once if it was consumed', found }]
}

/** Checks that the log still contains everything from an earlier check at the same positions. */
export function checkPrefix(earlier: readonly LogLine[], now: readonly LogLine[]): Violation[] {
  const missing = earlier.findIndex(({ id, position }, index) => {
    const line = now[index]
    return line?.id !== id || line.position !== position
  })
  if (missing === -1) return []
  const gone = earlier[missing]
  const expected = `${gone?.type} ${gone?.id} of ${gone?.stream} at ${gone?.position}, as at the check before`
  return [{ what: 'the log', expected, found: JSON.stringify(now[missing] ?? 'its end') }]
}
