import { z } from 'zod'
import type { ApiLists } from '../api/lists.ts'

const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({
    pagination: z.looseObject({
      per_page: z.int(),
      next: z.string(),
      has_more: z.boolean(),
      estimated_total: z.int().optional(),
    }),
  }),
})

/** Paddle Billing; the API of Paddle Classic does not list licenses. @see https://developer.paddle.com/api-reference */
export const paddleApi: ApiLists = {
  baseUrl: 'https://api.paddle.com',
  accept: 'application/json',
  needsAccount: false,
  async *lists() {
    yield { list: 'prices', of: null, first: '/prices?per_page=200&status=active,archived' }
    yield { list: 'customers', of: null, first: '/customers?per_page=200&status=active,archived' }
    yield { list: 'subscriptions', of: null, first: '/subscriptions?per_page=200' }
    yield { list: 'transactions', of: null, first: '/transactions?per_page=30&status=completed,paid' }
  },
  pageInfo(_list, _page, body) {
    const { per_page, next, has_more, estimated_total } = Page.parse(body).meta.pagination
    const { pathname, search } = new URL(next)
    return {
      next: has_more ? pathname + search : null,
      pages: estimated_total === undefined ? undefined : Math.ceil(estimated_total / per_page),
    }
  },
}
