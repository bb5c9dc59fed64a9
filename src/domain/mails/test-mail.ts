import type { KeyType } from '../products/key-type.ts'
import type { MailFacts } from './template.ts'

/** What a test mail is written from, beside the settings of the product. */
export type TestMailInput = {
  /** The address of the member who asked for it. */
  email: string
  vendorName: string
  /** Null while the portal is closed. */
  portalUrl: string | null
  product: {
    name: string
    keyPrefix: string
    keyTypes: readonly KeyType[]
    settings: { keyRecovery: boolean }
  }
}

/** Made-up values for a test mail. The key has the form of the product's keys, and no license ever has it. */
export function testMailFacts({ email, vendorName, portalUrl, product }: TestMailInput): MailFacts {
  const [keyType] = product.keyTypes
  return {
    customer: { email, name: 'Ada Example' },
    vendorName,
    productName: product.name,
    keyTypeName: keyType?.name ?? 'Standard',
    licenseKey: `${product.keyPrefix}-TEST-MAIL-NOT-A-REAL-KEY`,
    quantity: 1,
    deviceLimit: keyType?.deviceLimit ?? null,
    expiresAt: null,
    startsWith: null,
    saleId: 'test-mail',
    language: null,
    sentAgain: product.settings.keyRecovery,
    portalUrl,
    receipt: false,
  }
}
