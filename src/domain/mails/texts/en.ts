/** Every text of the mail with a key in English. */
export const en = {
  subject: 'Your license key for {{product_name}}',
  subjectOfOrder: 'Your license key for {{product_name}} (order {{order_number}})',
  hello: 'Hello',
  sold: 'Thank you for buying {{product_name}} ({{key_type_name}}). Here is your license key:',
  asked: 'Here is your license key for {{product_name}} ({{key_type_name}}):',
  order: 'Order',
  devices: 'Devices',
  unlimited: 'unlimited',
  expires: 'Expires',
  never: 'never',
  afterStart: 'after the first activation',
  sentOnce: 'Please keep this email: we send this key only once.',
  sentAgain: 'Please keep this email. If you lose it, write to us, and we send the key again.',
  portal: 'To see your license and its devices, sign in with the address that this email was sent to:',
  portalWithKey:
    'To see your license and its devices, or to have the key sent again, sign in with the address that this email was sent to:',
  portalLink: 'View your license',
  receipt:
    'The attached file proves that your license is recorded in our signed log. You do not need to open it: keep it with this email.',
} as const

/** The name of a text. */
export type KeyMailText = keyof typeof en
