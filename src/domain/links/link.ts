import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { SaleFact } from '../sales/events.ts'
import type { LinkEvent } from './events.ts'

/** What is known of a link: the sale that it names, and the facts that arrived before the sale. */
export type Link = { saleId: string | null; kept: readonly SaleFact[] }

type LinkRef = Omit<Extract<LinkEvent, { type: 'LinkBound' }>['data'], 'saleId' | 'at'>

export type LinkCommand =
  | ({ type: 'KeepFact'; fact: SaleFact; at: string } & LinkRef)
  | ({ type: 'BindLink'; saleId: string; at: string } & LinkRef)

export const unknownLink: Link = { saleId: null, kept: [] }

/**
 * Both commands are decided at the stream's exact revision. So a fact is either kept before the link is
 * bound, and returned to the process that binds it, or it arrives after, and is recorded with the sale.
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

/** Whether both are the same notification, perhaps received at different times. */
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
