import type { Violation } from './log-checks.ts'
import { compareSeat, type License } from './model.ts'
import type { LogLine } from './operator-commands.ts'

/** Everything that was acknowledged. Nothing of it is pending when it is compared with the log. */
export type Acknowledged = {
  licenses: readonly License[]
  /** The ids of the acknowledged sales. */
  sales: readonly string[]
  /** The ids of the sales whose refund was acknowledged. */
  refunded: readonly string[]
}

/**
 * Checks that the log contains everything that was acknowledged exactly once, and nothing that was not requested.
 */
export function checkAcknowledged(known: Acknowledged, log: readonly LogLine[]): Violation[] {
  const streams = Map.groupBy(log, ({ stream }) => stream)
  const minted = log.filter(({ type }) => type === 'LicenseMinted')
  return [
    ...checkMinted(known, minted),
    ...checkSales(known, minted, streams),
    ...known.licenses.flatMap((license) => checkLicense(license, streams.get(`license-${license.id}`) ?? [])),
  ]
}

function checkMinted({ licenses }: Acknowledged, minted: readonly LogLine[]): Violation[] {
  const bySale = (line: LogLine) => line.data.source === 'sale'
  const inLog = new Set(minted.filter((line) => !bySale(line)).map(({ data }) => data.licenseId))
  const acknowledged = new Set(licenses.map(({ id }) => id))
  const missing = licenses.filter(({ id }) => !inLog.has(id))
  const surplus = [...inLog].filter((id) => !acknowledged.has(String(id)))
  return [
    ...missing.map(({ id }) => {
      return { what: id, expected: 'in the log, since its mint was acknowledged', found: 'missing' }
    }),
    ...surplus.map((id) => {
      return {
        what: String(id),
        expected: 'one license for each mint',
        found: 'a license that no answer named',
      }
    }),
  ]
}

function checkSales(
  { sales, refunded }: Acknowledged,
  minted: readonly LogLine[],
  streams: ReadonlyMap<string, readonly LogLine[]>,
): Violation[] {
  const bySale = Map.groupBy(minted, ({ data }) => data.saleId)
  const refunds = new Set(refunded)
  const faults: Violation[] = []
  for (const saleId of sales) {
    const issued = bySale.get(saleId) ?? []
    if (issued.length !== 1) {
      faults.push({ what: saleId, expected: 'one license', found: String(issued.length) })
      continue
    }
    const lines = streams.get(issued[0]?.stream ?? '') ?? []
    const count = lines.filter(({ type }) => type === 'LicenseRefunded').length
    const wanted = refunds.has(saleId) ? 1 : 0
    if (count !== wanted) faults.push({ what: saleId, expected: `${wanted} refunds`, found: String(count) })
    const isRevoked = lines.some(({ type }) => type === 'LicenseRevoked')
    if (isRevoked !== refunds.has(saleId)) {
      faults.push({ what: saleId, expected: `revoked: ${refunds.has(saleId)}`, found: String(isRevoked) })
    }
  }
  const known = new Set(sales)
  for (const [saleId] of bySale) {
    if (typeof saleId === 'string' && !known.has(saleId)) {
      faults.push({ what: saleId, expected: 'licenses of sales that were taken in', found: 'a license' })
    }
  }
  return faults
}

function checkLicense(license: License, lines: readonly LogLine[]): Violation[] {
  const faults: Violation[] = []
  const revocations = lines.filter(({ type }) => type === 'LicenseRevoked').length
  const least = license.revocation === 'acknowledged' ? 1 : 0
  const most = license.revocation === 'none' ? 0 : 1
  if (revocations < least || revocations > most) {
    faults.push({ what: license.id, expected: `${least} to ${most} revocations`, found: String(revocations) })
  }
  for (const seat of license.seats) {
    const count = (type: string) =>
      lines.filter((line) => line.type === type && line.data.deviceId === seat.deviceId).length
    const recorded = {
      activations: count('DeviceActivated'),
      deactivations: count('DeviceDeactivated'),
    }
    for (const fault of compareSeat(seat, recorded)) {
      faults.push({ what: `${license.id} ${seat.deviceId}`, expected: 'as acknowledged', found: fault })
    }
  }
  return faults
}
