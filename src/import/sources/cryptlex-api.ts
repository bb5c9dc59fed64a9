import { z } from 'zod'
import type { ApiLists } from '../api/lists.ts'

const pageSize = 100
const Page = z.array(z.unknown())

/** @see https://api.cryptlex.com/v3/docs */
export const cryptlexApi: ApiLists = {
  baseUrl: 'https://api.cryptlex.com',
  accept: 'application/json',
  needsAccount: false,
  async *lists() {
    for (const list of ['products', 'license-templates', 'product-versions', 'licenses', 'activations']) {
      yield { list, of: null, first: `/v3/${list}?limit=${pageSize}&page=1` }
    }
  },
  pageInfo({ first }, page, body) {
    const isLast = Page.parse(body).length < pageSize
    return { next: isLast ? null : first.replace('&page=1', `&page=${page + 1}`) }
  },
}
