import { z } from 'zod'
import { keyTypeId, page, productId, saleId } from '../arguments.ts'
import { pathTo } from '../path.ts'
import { tool } from '../tool.ts'

const provider = z.enum(['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar'])
const sale = (id: string, action = ''): string => pathTo`/v1/sales/${id}` + action

/** Sales of payment providers, and trying out one. */
export const saleTools = [
  tool({
    name: 'list_sales',
    title: 'List sales',
    description:
      'Returns sales, newest first. `status: parked` lists those that are paid but have no license yet, because it is ' +
      'unknown what they sold.',
    effect: 'reads',
    input: {
      status: z.enum(['received', 'parked', 'licensed']).optional(),
      provider: provider.optional(),
      productId: productId.optional(),
      ...page,
    },
    request: ({ productId: product, ...query }) => ({
      method: 'GET',
      path: '/v1/sales',
      query: { product, ...query },
    }),
  }),
  tool({
    name: 'get_sale',
    title: 'Read a sale',
    description:
      'Returns a sale with its payments, refunds and disputes, its license, and why it is parked if it is.',
    effect: 'reads',
    input: { saleId },
    request: ({ saleId: id }) => ({ method: 'GET', path: sale(id) }),
  }),
  tool({
    name: 'map_sale',
    title: 'Say what a parked sale sold',
    description:
      "Maps the item of a parked sale to a product's key type, issues its license, and those of up to 100 other " +
      'parked sales of the same item. Later sales of the item use the mapping as well.',
    effect: 'changes',
    reachesOut: true,
    input: { saleId, productId, keyTypeId },
    request: ({ saleId: id, ...body }) => ({ method: 'POST', path: sale(id, '/map'), body }),
  }),
  tool({
    name: 'replay_sale',
    title: 'Try a parked sale again',
    description: 'Issues the license of a parked sale once the reason for parking is fixed.',
    effect: 'changes',
    reachesOut: true,
    input: { saleId },
    request: ({ saleId: id }) => ({ method: 'POST', path: sale(id, '/replay') }),
  }),
  tool({
    name: 'run_test_purchase',
    title: 'Run a test purchase',
    description:
      'Checks that a product can be sold: sends a signed test notification through the whole way of a sale. No ' +
      'payment is made, and the license is marked as a test. Returns the id of the run: ask get_test_purchase until it ' +
      'has ended.',
    effect: 'adds',
    noDryRun: true,
    reachesOut: true,
    input: { productId, keyTypeId: keyTypeId.optional(), provider: provider.optional() },
    request: (body) => ({ method: 'POST', path: '/v1/test-purchase', body }),
  }),
  tool({
    name: 'get_test_purchase',
    title: 'Read the progress of a test purchase',
    description: 'Returns each step of a test purchase with its outcome.',
    effect: 'reads',
    input: { testPurchaseId: z.string().min(1).max(100) },
    request: ({ testPurchaseId: id }) => ({
      method: 'GET',
      path: pathTo`/v1/test-purchase/${id}`,
    }),
  }),
]
