import { auditProjector } from './audit/projector.ts'
import { clientKeysProjector } from './client-keys.ts'
import { confirmationsProjector } from './confirmations.ts'
import { customRolesProjector } from './custom-roles.ts'
import { customerNotesProjector } from './customer-notes.ts'
import { customersProjector } from './customers.ts'
import { deliveriesProjector } from './deliveries/projector.ts'
import { integrationsProjector } from './integrations.ts'
import { ledgerProjector } from './ledger.ts'
import { licensesProjector } from './licenses/projector.ts'
import { loginsProjector } from './logins.ts'
import { mailsProjector } from './mails.ts'
import { membersProjector } from './members.ts'
import { metersProjector } from './meters/projector.ts'
import { peopleProjector } from './people.ts'
import { portalProjector } from './portal.ts'
import { productsProjector } from './products/projector.ts'
import type { Projector } from './projector.ts'
import { replaysProjector } from './replays.ts'
import { resellersProjector } from './resellers.ts'
import { salesProjector } from './sales/projector.ts'
import { unmatchedProjector } from './sales/unmatched.ts'
import { scimProjector } from './scim.ts'
import { signInProvidersProjector } from './sign-in-providers.ts'
import { signingProjector } from './signing.ts'
import { subjectsProjector } from './subjects.ts'
import { tenantsProjector } from './tenants.ts'
import { testPurchasesProjector } from './test-purchases.ts'
import { tokensProjector } from './tokens/projector.ts'
import { trialsProjector } from './trials.ts'
import { webhooksProjector } from './webhooks.ts'
import { wordingsProjector } from './wordings.ts'

/** Every read model. All advance together, in one transaction, with one checkpoint. */
export const projectors: readonly Projector[] = [
  ledgerProjector,
  tenantsProjector,
  clientKeysProjector,
  membersProjector,
  customRolesProjector,
  signInProvidersProjector,
  scimProjector,
  productsProjector,
  tokensProjector,
  loginsProjector,
  webhooksProjector,
  resellersProjector,
  customersProjector,
  customerNotesProjector,
  peopleProjector,
  licensesProjector,
  metersProjector,
  deliveriesProjector,
  replaysProjector,
  integrationsProjector,
  salesProjector,
  unmatchedProjector,
  mailsProjector,
  wordingsProjector,
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
