import { z } from 'zod'
import { customerId, licenseId, page, productId, reason, time } from '../arguments.ts'
import { pathTo } from '../path.ts'
import { tool } from '../tool.ts'

const product = (id: string, rest = ''): string => pathTo`/v1/products/${id}` + rest
const customer = (id: string, rest = ''): string => pathTo`/v1/customers/${id}` + rest

/** Products, customers, figures, and the token itself. */
export const workspaceTools = [
  tool({
    name: 'who_am_i',
    title: 'Read what this token may do',
    description: 'Returns the workspace and the scopes of the token. Use it when a tool is refused with 403.',
    effect: 'reads',
    input: {},
    request: () => ({ method: 'GET', path: '/v1/tokens/verify' }),
  }),
  tool({
    name: 'list_products',
    title: 'List products',
    description: 'Returns the products with their settings. Their ids are needed to issue licenses.',
    effect: 'reads',
    input: page,
    request: (query) => ({ method: 'GET', path: '/v1/products', query }),
  }),
  tool({
    name: 'list_key_types',
    title: 'List the key types of a product',
    description:
      'Returns what a product sells: the term, device limit, entitlements and price of each key type.',
    effect: 'reads',
    input: { productId },
    request: ({ productId: id }) => ({ method: 'GET', path: product(id, '/key-types') }),
  }),
  tool({
    name: 'get_customer',
    title: 'Read a customer',
    description:
      'Returns a customer with their entitlement overrides. find_license finds customers by a person.',
    effect: 'reads',
    input: { customerId },
    request: ({ customerId: id }) => ({ method: 'GET', path: customer(id) }),
  }),
  tool({
    name: 'list_licenses_of_customer',
    title: 'List the licenses of a customer',
    description: 'Returns the licenses that are linked to a customer, newest first.',
    effect: 'reads',
    input: { customerId, ...page },
    request: ({ customerId: id, ...query }) => ({ method: 'GET', path: customer(id, '/licenses'), query }),
  }),
  tool({
    name: 'link_license_to_customer',
    title: 'Link a license to a customer',
    description:
      'Links a license to a customer, whose entitlement overrides then apply to it. A license of another customer is refused.',
    effect: 'changes',
    input: { customerId, licenseId, reason },
    request: ({ customerId: id, ...body }) => ({ method: 'POST', path: customer(id, '/link-license'), body }),
  }),
  tool({
    name: 'read_usage',
    title: 'Count activations and validates',
    description: 'Returns how often apps and servers activated and validated, by hour or day in UTC.',
    effect: 'reads',
    input: {
      productId: productId.optional(),
      from: time('The first hour or day').optional(),
      to: time('Where to end').optional(),
      granularity: z.enum(['hour', 'day']).optional(),
    },
    request: ({ productId: ofProduct, ...query }) => ({
      method: 'GET',
      path: '/v1/usage',
      query: { product: ofProduct, ...query },
    }),
  }),
  tool({
    name: 'read_insights',
    title: 'Read sales and license figures',
    description: 'Returns sales, refunds, new and ended licenses, app versions and trials by day, in UTC.',
    effect: 'reads',
    input: { from: time('The first day').optional(), to: time('Where to end').optional() },
    request: (query) => ({ method: 'GET', path: '/v1/insights', query }),
  }),
  tool({
    name: 'check_approval',
    title: 'Ask whether a person has approved',
    description:
      'Returns the status of an approval that another tool asked for: pending, approved, denied or expired. Once it ' +
      'is approved, repeat that tool with the same arguments and `confirmationId`. Ask at most every two seconds.',
    effect: 'reads',
    input: { confirmationId: z.string().min(1).max(100).describe('The id of the approval') },
    request: ({ confirmationId: id }) => ({
      method: 'GET',
      path: pathTo`/v1/confirmations/${id}`,
    }),
  }),
]
