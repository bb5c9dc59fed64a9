import { auditProjector } from './audit/projector.ts'
import { clientKeysProjector } from './client-keys/projector.ts'
import { confirmationsProjector } from './confirmations/projector.ts'
import { customersProjector } from './customers/projector.ts'
import { deliveriesProjector } from './deliveries/projector.ts'
import { integrationsProjector } from './integrations/projector.ts'
import { ledgerProjector } from './ledger/projector.ts'
import { licensesProjector } from './licenses/projector.ts'
import { loginsProjector } from './logins/projector.ts'
import { mailsProjector } from './mails/projector.ts'
import { membersProjector } from './members/projector.ts'
import { portalProjector } from './portal/projector.ts'
import { productsProjector } from './products/projector.ts'
import type { Projector } from './projector.ts'
import { replaysProjector } from './replays/projector.ts'
import { salesProjector } from './sales/projector.ts'
import { unmatchedProjector } from './sales/unmatched.ts'
import { signingProjector } from './signing/projector.ts'
import { subjectsProjector } from './subjects/projector.ts'
import { tenantsProjector } from './tenants/projector.ts'
import { testPurchasesProjector } from './test-purchases/projector.ts'
import { tokensProjector } from './tokens/projector.ts'
import { trialsProjector } from './trials/projector.ts'
import { webhooksProjector } from './webhooks/projector.ts'

/** Every read model. All advance together, in one transaction, with one checkpoint. */
export const projectors: readonly Projector[] = [
  ledgerProjector,
  tenantsProjector,
  clientKeysProjector,
  membersProjector,
  productsProjector,
  tokensProjector,
  loginsProjector,
  webhooksProjector,
  customersProjector,
  licensesProjector,
  deliveriesProjector,
  replaysProjector,
  integrationsProjector,
  salesProjector,
  unmatchedProjector,
  mailsProjector,
  portalProjector,
  testPurchasesProjector,
  trialsProjector,
  confirmationsProjector,
  signingProjector,
  subjectsProjector,
  auditProjector,
]

export const readModelTables: readonly string[] = projectors.flatMap(({ tables }) =>
  tables.map(({ name }) => name),
)
