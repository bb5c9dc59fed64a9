import type { Pool } from 'pg'
import {
  type MeterPoint,
  type MeterScope,
  type MeterUseOfLicense,
  readHeaviestLicenses,
  readMeterPoints,
} from '../../projections/meters/use-queries.ts'
import { type Amount, sumOf } from '../domain/meters/amount.ts'
import { pointsIn, type UsageRange } from './range.ts'

type Point = { at: string; used: Amount; overage: Amount }

/** What was used under one meter of a product over a range. */
export type MeteredUse = {
  /** null of a meter that the licenses of a customer share. */
  productId: string | null
  meter: string
  unit: string
  /** The sums over the range. */
  used: Amount
  overage: Amount
  /** Each hour or day of the range, the oldest first. */
  points: Point[]
  /** The licenses that used most, the first one first; only of a product or a customer. */
  heaviest: Omit<MeterUseOfLicense, 'productId' | 'meter'>[]
}

/** Licenses that are named as those that use most. */
const mostNamed = 10

/** The uses of a scope over a range, by product and meter. A meter without any in the range is left out. */
export async function readMeteredUse(db: Pool, scope: MeterScope, range: UsageRange): Promise<MeteredUse[]> {
  const [points, heaviest] = await Promise.all([
    readMeterPoints(db, scope, range),
    'licenseId' in scope ? [] : readHeaviestLicenses(db, scope, range, mostNamed),
  ])
  const licenses = Map.groupBy(heaviest, nameOf)
  return Array.from(Map.groupBy(points, nameOf), ([name, counted]) =>
    useOf(range, counted, licenses.get(name) ?? []),
  )
}

const nameOf = ({ productId, meter }: { productId: string | null; meter: string }): string =>
  `${productId ?? ''} ${meter}`

function useOf(
  range: UsageRange,
  counted: readonly MeterPoint[],
  licenses: readonly MeterUseOfLicense[],
): MeteredUse {
  const [{ productId = null, meter = '' } = {}] = counted
  const byStart = new Map(counted.map((point) => [point.at, point]))
  return {
    productId,
    meter,
    unit: counted.at(-1)?.unit ?? '',
    used: sumOf(counted.map(({ used }) => used)),
    overage: sumOf(counted.map(({ overage }) => overage)),
    points: pointsIn(range).map((at) => {
      const { used = 0n, overage = 0n } = byStart.get(at) ?? {}
      return { at, used, overage }
    }),
    heaviest: licenses.map(({ licenseId, used, overage }) => ({ licenseId, used, overage })),
  }
}
