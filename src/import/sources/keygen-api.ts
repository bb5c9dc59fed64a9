import { z } from 'zod'
import type { ApiLists } from '../api/lists.ts'

const pageSize = 100
const Page = z.looseObject({
  data: z.array(z.unknown()),
  links: z
    .looseObject({
      next: z.string().nullish(),
      meta: z.looseObject({ pages: z.int().optional() }).optional(),
    })
    .optional(),
})
const WithId = z.looseObject({ id: z.string() })

/** @see https://keygen.sh/docs/api/ */
export const keygenApi: ApiLists = {
  baseUrl: 'https://api.keygen.sh',
  accept: 'application/vnd.api+json',
  needsAccount: true,
  async *lists({ account, licenseEntitlements }, fetched) {
    const base = `/v1/accounts/${encodeURIComponent(account)}`
    const list = (name: string, path = name, of: string | null = null) => ({
      list: name,
      of,
      first: `${base}/${path}?page[size]=${pageSize}&page[number]=1`,
    })
    yield list('policies')
    for await (const data of fetched('policies')) {
      const { id } = WithId.parse(data)
      yield list('policy-entitlements', `policies/${encodeURIComponent(id)}/entitlements`, id)
    }
    yield list('users')
    yield list('licenses')
    yield list('machines')
    if (!licenseEntitlements) return
    for await (const data of fetched('licenses')) {
      const { id } = WithId.parse(data)
      yield list('license-entitlements', `licenses/${encodeURIComponent(id)}/entitlements`, id)
    }
  },
  pageInfo({ first }, page, body) {
    const { data, links } = Page.parse(body)
    const isLast = data.length < pageSize || links?.next === null
    return {
      next: isLast ? null : first.replace('page[number]=1', `page[number]=${page + 1}`),
      pages: links?.meta?.pages,
    }
  },
}
