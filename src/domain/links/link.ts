import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { SaleFact } from '../sales/events.ts'
import type { LinkEvent } from './events.ts'

/** What is known of a link: the sale that it names, or what was told of it before the sale came. */
export type Link = { saleId: string | null; kept: readonly SaleFact[] }

type LinkRef = Omit<Extract<LinkEvent, { type: 'LinkBound' }>['data'], 'saleId' | 'at'>

export type LinkCommand =
  | ({ type: 'KeepFact'; fact: SaleFact; at: string } & LinkRef)
  | ({ type: 'BindLink'; saleId: string; at: string } & LinkRef)

export const unknownLink: Link = { saleId: null, kept: [] }

/**
 * Since both are decided at the stream's exact revision, what is told is either kept before the link is bound, and
 * found by whoever binds it, or comes after, and finds the sale.
 */
export function decideLink(state: Link, command: LinkCommand): LinkEvent[] {
  if (state.saleId !== null) return []
  switch (command.type) {
    case 'KeepFact': {
      const { type: _, ...data } = command
      return state.kept.some((kept) => isSame(kept, command.fact)) ? [] : [{ type: 'NoticeKept', data }]
    }
    case 'BindLink': {
      const { type: _, ...data } = command
      return [{ type: 'LinkBound', data }]
    }
  }
}

/** The same notification again, at another time. */
function isSame(left: SaleFact, right: SaleFact): boolean {
  const { at: _, ...leftData } = left.data
  const { at: __, ...rightData } = right.data
  return left.type === right.type && sameJson(leftData, rightData)
}

/** Never refuses: what is recorded has happened. */
export function evolveLink(state: Link, event: LinkEvent): Link {
  switch (event.type) {
    case 'NoticeKept':
      return { ...state, kept: [...state.kept, event.data.fact] }
    case 'LinkBound':
      return { ...state, saleId: event.data.saleId }
  }
}

/** The rules of `notice-…` streams, one for each link by which a provider names a sale. */
export const links: Decider<Link, LinkCommand, 'notice'> = {
  category: 'notice',
  initial: unknownLink,
  decide: decideLink,
  evolve: evolveLink,
}
