import { type Amount, amountOf } from '../meters/amount.ts'
import type { SaleEvent } from './events.ts'

/** What an item adds to a meter, and of which license: that of the license itself, or that which it shares with its customer's others. */
export type CreditTarget = {
  productId: string
  licenseId: string
  /** Of a meter that the licenses of a customer share; null for one of the license's own. */
  customerId: string | null
  meter: string
  unit: string
  /** Of all units that were bought. */
  amount: string
  /** How long it can be spent; null for ever. */
  days: number | null
}

/** A credit as it was added. After a refund that was undone, it is another one, of what had been left. */
export type AddedCredit = { creditId: string; amount: string; endsAt: string | null; at: string }

/** What an item that sells credits has come to. */
export type ItemCredit = CreditTarget & {
  /** null until it was added. */
  added: AddedCredit | null
  /** What was left when the payment was returned, and is taken back; null while it can be spent. */
  withdrawn: { left: string; at: string } | null
  /** How often that happened, so that each withdrawal has a key of its own. */
  withdrawals: number
}

/** What was done about the credit of an item, because its payments changed. */
export type CreditChange = { item: number } & (
  | { withdrawn: { creditId: string; left: string } }
  | { returned: Omit<AddedCredit, 'at'> }
)

export const mappedCredit = (target: CreditTarget): ItemCredit => ({
  ...target,
  added: null,
  withdrawn: null,
  withdrawals: 0,
})

/** How much of a credit was spent when its payment was returned; null while it can be spent. */
export function spentOf({ added, withdrawn }: ItemCredit): Amount | null {
  return added && withdrawn ? amountOf(added.amount) - amountOf(withdrawn.left) : null
}

/** @returns undefined where the credit is not as the change supposes: another process has recorded it */
export function creditChanged(
  credit: ItemCredit | undefined,
  { item, ...change }: CreditChange,
  at: string,
): SaleEvent | undefined {
  if (!credit?.added) return undefined
  const place = item === 0 ? {} : { item }
  if ('withdrawn' in change) {
    const { creditId, left } = change.withdrawn
    const isOld = credit.withdrawn !== null || credit.added.creditId !== creditId
    return isOld ? undefined : { type: 'SaleCreditWithdrawn', data: { ...place, creditId, left, at } }
  }
  if (credit.withdrawn === null) return undefined
  return { type: 'SaleCredited', data: { ...place, ...placeOf(credit), ...change.returned, at } }
}

/** Whose meter a credit is of. */
export const placeOf = ({ licenseId, customerId, meter }: CreditTarget) => ({
  licenseId,
  ...(customerId !== null && { customerId }),
  meter,
})
