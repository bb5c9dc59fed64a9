import { z } from 'zod'
import type { ApiLists } from '../api/lists.ts'

const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({ page: z.looseObject({ lastPage: z.int() }) }),
})

/** The lists that can be limited to one store; instances and variants belong to what these have. */
const ofStore = new Set(['products', 'license-keys'])

/** @see https://docs.lemonsqueezy.com/api */
export const lemonSqueezyApi: ApiLists = {
  baseUrl: 'https://api.lemonsqueezy.com',
  accept: 'application/vnd.api+json',
  needsAccount: false,
  async *lists({ account: store }) {
    for (const list of ['products', 'variants', 'order-items', 'license-keys', 'license-key-instances']) {
      const filter = store !== '' && ofStore.has(list) ? `&filter[store_id]=${encodeURIComponent(store)}` : ''
      yield { list, of: null, first: `/v1/${list}?page[size]=100&page[number]=1${filter}` }
    }
  },
  pageInfo({ first }, page, body) {
    const { lastPage } = Page.parse(body).meta.page
    const next = page < lastPage ? first.replace('page[number]=1', `page[number]=${page + 1}`) : null
    return { next, pages: lastPage }
  },
}
