import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { SaleFact } from '../sales/events.ts'
import type { NoticeEvent } from './events.ts'

/** What is known of a link: the sale that it names, or what was told of it before the sale came. */
export type Notice = { saleId: string | null; kept: readonly SaleFact[] }

type Link = Omit<Extract<NoticeEvent, { type: 'LinkBound' }>['data'], 'saleId' | 'at'>

export type NoticeCommand =
  | ({ type: 'KeepNotice'; fact: SaleFact; at: string } & Link)
  | ({ type: 'BindLink'; saleId: string; at: string } & Link)

export const unknownLink: Notice = { saleId: null, kept: [] }

/**
 * Since both are decided at the stream's exact revision, what is told is either kept before the link is bound, and
 * found by whoever binds it, or comes after, and finds the sale.
 */
export function decideNotice(notice: Notice, command: NoticeCommand): NoticeEvent[] {
  if (notice.saleId !== null) return []
  switch (command.type) {
    case 'KeepNotice': {
      const { type: _, ...data } = command
      return notice.kept.some((kept) => isSame(kept, command.fact)) ? [] : [{ type: 'NoticeKept', data }]
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
export function evolveNotice(notice: Notice, event: NoticeEvent): Notice {
  switch (event.type) {
    case 'NoticeKept':
      return { ...notice, kept: [...notice.kept, event.data.fact] }
    case 'LinkBound':
      return { ...notice, saleId: event.data.saleId }
  }
}

/** The rules of notice streams, one for each link by which a provider names a sale. */
export const notices: Decider<Notice, NoticeCommand, 'notice'> = {
  category: 'notice',
  initial: unknownLink,
  decide: decideNotice,
  evolve: evolveNotice,
}
