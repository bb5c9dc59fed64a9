import fc from 'fast-check'
import { causeOf, momentOf } from '../../src/commands/origin.ts'
import { mintForReseller, returnNotMinted } from '../../src/commands/resellers/licenses.ts'
import { changeReseller, closeReseller, createReseller } from '../../src/commands/resellers/resellers.ts'
import { newId } from '../../src/credentials/id.ts'
import { resellers } from '../../src/domain/resellers/reseller.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** A step with resellers, who are chosen by index, modulo the number of existing ones. */
export type ResellerStep =
  | { do: 'add reseller' }
  | { do: 'change quota'; reseller: number; licenses: number }
  | { do: 'mint for reseller' | 'take and return' | 'close reseller'; reseller: number }

const some = fc.nat({ max: 2 })

export const anyResellerStep: fc.Arbitrary<ResellerStep> = fc.oneof(
  fc.record({ do: fc.constant('add reseller' as const) }),
  fc.record({ do: fc.constant('change quota' as const), reseller: some, licenses: some }),
  fc.record({
    do: fc.constantFrom('mint for reseller' as const, 'take and return' as const, 'close reseller' as const),
    reseller: some,
  }),
)

/** Runs the steps of one tenant. @throws Refusal for a step that the rules do not allow */
export function resellerStepRunner({ ports }: TestLedger, tenantId: string, productId: string) {
  const resellerIds: string[] = []
  const quota = { productId, keyTypeId: 'default' }

  return async (step: ResellerStep): Promise<unknown> => {
    if (step.do === 'add reseller') {
      const asked = { name: 'Northwind', quotas: [{ ...quota, licenses: 2 }] }
      const { reseller } = await createReseller(ports, tenantId, asked, origin)
      return resellerIds.push(reseller.resellerId)
    }
    const resellerId = resellerIds[step.reseller % resellerIds.length]
    if (resellerId === undefined) return undefined
    const whose = { tenantId, resellerId }
    switch (step.do) {
      case 'change quota':
        return changeReseller(
          ports,
          tenantId,
          resellerId,
          { quotas: [{ ...quota, licenses: step.licenses }] },
          origin,
        )
      case 'mint for reseller': {
        const email = `${tenantId}-reseller@example.com`
        return mintForReseller(ports, whose, { productId, email }, origin)
      }
      case 'take and return': {
        const licenseId = newId('lic')
        const at = momentOf(ports)
        const take = { type: 'TakeLicense', licenseId, ...quota, at } as const
        await ports.execute(resellers, resellerId, take, causeOf(origin, at))
        return returnNotMinted(ports, { ...whose, licenseId }, origin)
      }
      case 'close reseller':
        return closeReseller(ports, tenantId, resellerId, origin)
    }
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyResellerStep: readonly ResellerStep[] = [
  { do: 'add reseller' },
  { do: 'change quota', reseller: 0, licenses: 3 },
  { do: 'mint for reseller', reseller: 0 },
  { do: 'take and return', reseller: 0 },
  { do: 'close reseller', reseller: 0 },
]
