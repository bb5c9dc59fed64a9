import type { GatedOperation } from './operation.ts'
import { closeReseller } from './operations/close-reseller.ts'
import { addRole, changeRole, deleteRole } from './operations/custom-roles.ts'
import { deleteKeyType } from './operations/delete-key-type.ts'
import { eraseCustomer } from './operations/erase-customer.ts'
import { exportLicenses } from './operations/export-licenses.ts'
import { loosenApprovals } from './operations/loosen-approvals.ts'
import { revokeLicense } from './operations/revoke-license.ts'
import { revokeToken } from './operations/revoke-token.ts'
import { rotateProviderSecret } from './operations/rotate-provider-secret.ts'
import { setScim } from './operations/scim.ts'
import { revealSdkKey, rotateSdkKey } from './operations/sdk-key.ts'
import { setWebhook } from './operations/set-webhook.ts'
import {
  addSignInProvider,
  changeSignInProvider,
  deleteSignInProvider,
} from './operations/sign-in-providers.ts'
import { reinstateLicense, reseatDevice, takeBackImport } from './operations/undo.ts'
import {
  addWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from './operations/webhook-endpoints.ts'

/** Every gated operation. A confirmation's operation is looked up here when it is shown or resumed. */
export const gatedOperations: readonly GatedOperation<unknown>[] = [
  deleteKeyType,
  revokeLicense,
  revealSdkKey,
  rotateSdkKey,
  setWebhook,
  addWebhookEndpoint,
  changeWebhookEndpoint,
  rotateWebhookSecret,
  deleteWebhookEndpoint,
  rotateProviderSecret,
  addSignInProvider,
  changeSignInProvider,
  deleteSignInProvider,
  setScim,
  exportLicenses,
  eraseCustomer,
  reinstateLicense,
  reseatDevice,
  takeBackImport,
  revokeToken,
  addRole,
  changeRole,
  deleteRole,
  closeReseller,
  loosenApprovals,
]

/** The names of the operations whose result is streamed to the requester. */
export const streamedOperations: readonly string[] = gatedOperations
  .filter(({ streams }) => streams)
  .map(({ name }) => name)

/** Undefined for an operation of a newer version of keyledger. */
export const findOperation = (name: string): GatedOperation<unknown> | undefined =>
  gatedOperations.find((operation) => operation.name === name)
