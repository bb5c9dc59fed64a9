import { amountOf, amountText, sumOf } from '../meters/amount.ts'
import type { MeterEvent } from '../meters/events.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { toldByMail } from './notices.ts'
import { usageEvents } from './usage-events.ts'

export type UsageEvent = Extract<
  LicenseEvent,
  { type: 'UsageThresholdReached' | 'UsagePeriodClosed' | 'UsageAdjusted' }
>

const types: ReadonlySet<string> = new Set(usageEvents.map(({ shape }) => shape.type.value))
export const isOfUsage = (event: LicenseEvent): event is UsageEvent => types.has(event.type)

/** Whose meter it is, where licenses share it. */
export const sharerOf = ({ type, data }: UsageEvent): string | undefined =>
  type === 'UsageAdjusted' ? undefined : data.customerId

/** What of a meter is told in the history of its license. */
export type NotableEvent = Extract<
  MeterEvent,
  { type: 'CreditAdded' | 'CreditWithdrawn' | 'UseCorrected' | 'ThresholdReached' | 'PeriodClosed' }
>

export const isNotable = (event: MeterEvent): event is NotableEvent =>
  event.type === 'CreditAdded' ||
  event.type === 'CreditWithdrawn' ||
  event.type === 'UseCorrected' ||
  event.type === 'ThresholdReached' ||
  event.type === 'PeriodClosed'

/** @param mail whether the product mails its customers at thresholds */
export type NoteUsage = {
  type: 'NoteUsage'
  meter: string
  unit: string
  /** Of a meter that the licenses of a customer share. */
  customerId: string | null
  meterRevision: number
  noted: NotableEvent
  mail: boolean
}

/** What happened to a meter, as it is told of its license. */
export function usageNoted(
  license: Pick<LicenseTerms, 'holder'>,
  { noted, mail, meter, unit, customerId, meterRevision }: NoteUsage,
): UsageEvent {
  const own = { meter, unit, meterRevision }
  const of = { ...own, ...(customerId !== null && { customerId }) }
  switch (noted.type) {
    case 'ThresholdReached': {
      const { percent, used, remaining, overage, period, at } = noted.data
      const told = { percent, used, remaining, overage, ...period, ...toldByMail(license, mail), at }
      return { type: 'UsageThresholdReached', data: { ...of, ...told } }
    }
    case 'PeriodClosed': {
      const { period, endedAt, used, from, at } = noted.data
      const { rolledOver = '0', included = '0', credits = {}, overage = '0' } = from
      const sums = { rolledOver, included, credits: sumOfTexts(Object.values(credits)), overage }
      const { startsAt } = period
      return { type: 'UsagePeriodClosed', data: { ...of, startsAt, endedAt, used, ...sums, at } }
    }
    case 'CreditAdded': {
      const { amount, order: note, at } = noted.data
      return { type: 'UsageAdjusted', data: { ...own, what: 'credit_added', amount, note, at } }
    }
    case 'CreditWithdrawn': {
      const { reason: note, at } = noted.data
      return { type: 'UsageAdjusted', data: { ...own, what: 'credit_withdrawn', amount: null, note, at } }
    }
    case 'UseCorrected': {
      const { amount, reason: note, at } = noted.data
      return { type: 'UsageAdjusted', data: { ...own, what: 'use_corrected', amount, note, at } }
    }
  }
}

const sumOfTexts = (amounts: readonly string[]): string => amountText(sumOf(amounts.map(amountOf)))
