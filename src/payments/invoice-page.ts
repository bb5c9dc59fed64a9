import { z } from 'zod'

/** A payment of a sale, as its provider names it. */
export type NamedPayment = {
  /** The provider's id of the sale. */
  saleId: string
  /** The provider's id of a payment after the first; null for the first. */
  paymentId: string | null
  /** What else names the first payment or the sale as a whole, such as `payment:pi_…`. */
  links: readonly string[]
}

/** An address that a provider gives a customer; it often works for an hour only, so that none is kept. */
export const CustomerPage = z.url({ protocol: /^https?$/ })

/** The provider's id in the link of this kind. */
export const linked = ({ links }: NamedPayment, kind: string): string | undefined =>
  links.find((link) => link.startsWith(`${kind}:`))?.slice(kind.length + 1)
