import { confirmationsProjector } from './confirmations/projector.ts'
import { historyProjector } from './history/projector.ts'
import { licensesProjector } from './licenses/projector.ts'
import { membersProjector } from './members/projector.ts'
import { productsProjector } from './products/projector.ts'
import type { Projector } from './projector.ts'
import { tenantsProjector } from './tenants/projector.ts'
import { tokensProjector } from './tokens/projector.ts'

/** Every read model. All move together, in one transaction, behind one checkpoint. */
export const projectors: readonly Projector[] = [
  tenantsProjector,
  membersProjector,
  productsProjector,
  tokensProjector,
  licensesProjector,
  historyProjector,
  confirmationsProjector,
]

export const readModelTables: readonly string[] = projectors.flatMap(({ tables }) => tables)
