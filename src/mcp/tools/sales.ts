import { z } from 'zod'
import { operations } from '../../description/operations.ts'
import { keyTypeId, page, productId, saleId } from '../arguments.ts'
import { tool } from '../tool.ts'

const provider = z.enum(operations.listSales.query.provider.choices)

/** Sales of payment providers, and trying out one. */
export const saleTools = [
  tool({
    name: 'list_sales',
    operation: 'listSales',
    title: 'List sales',
    description:
      'Returns sales, newest first. `status: parked` lists those that are paid but have no license yet, because it is ' +
      'unknown what they sold.',
    effect: 'reads',
    input: {
      status: z.enum(operations.listSales.query.status.choices).optional(),
      provider: provider.optional(),
      productId: productId.optional(),
      ...page,
    },
    names: { productId: 'product' },
  }),
  tool({
    name: 'get_sale',
    operation: 'getSale',
    title: 'Read a sale',
    description:
      'Returns a sale with its payments, refunds and disputes, its license, and why it is parked if it is.',
    effect: 'reads',
    input: { saleId },
    names: { saleId: 'id' },
  }),
  tool({
    name: 'map_sale',
    operation: 'mapSale',
    title: 'Say what a parked sale sold',
    description:
      "Maps the item of a parked sale to a product's key type, issues its license, and those of up to 100 other " +
      'parked sales of the same item. Later sales of the item use the mapping as well.',
    effect: 'changes',
    reachesOut: true,
    input: { saleId, productId, keyTypeId },
    names: { saleId: 'id' },
  }),
  tool({
    name: 'replay_sale',
    operation: 'replaySale',
    title: 'Try a parked sale again',
    description: 'Issues the license of a parked sale once the reason for parking is fixed.',
    effect: 'changes',
    reachesOut: true,
    input: { saleId },
    names: { saleId: 'id' },
  }),
  tool({
    name: 'run_test_purchase',
    operation: 'startTestPurchase',
    title: 'Run a test purchase',
    description:
      'Checks that a product can be sold: sends a signed test notification through the whole way of a sale. No ' +
      'payment is made, and the license is marked as a test. Returns the id of the run: ask get_test_purchase until it ' +
      'has ended.',
    effect: 'adds',
    reachesOut: true,
    input: { productId, keyTypeId: keyTypeId.optional(), provider: provider.optional() },
  }),
  tool({
    name: 'get_test_purchase',
    operation: 'getTestPurchase',
    title: 'Read the progress of a test purchase',
    description: 'Returns each step of a test purchase with its outcome.',
    effect: 'reads',
    input: { testPurchaseId: z.string().min(1).max(100) },
    names: { testPurchaseId: 'id' },
  }),
]
