// cspell:disable -- German
import type { KeyMailText } from './en.ts'

/** Every text of the mail with a key in German. */
export const de: Record<KeyMailText, string> = {
  subject: 'Ihr Lizenzschlüssel für {{product_name}}',
  subjectOfOrder: 'Ihr Lizenzschlüssel für {{product_name}} (Bestellung {{order_number}})',
  hello: 'Guten Tag',
  sold: 'vielen Dank für den Kauf von {{product_name}} ({{key_type_name}}). Hier ist Ihr Lizenzschlüssel:',
  asked: 'hier ist Ihr Lizenzschlüssel für {{product_name}} ({{key_type_name}}):',
  order: 'Bestellung',
  devices: 'Geräte',
  unlimited: 'unbegrenzt',
  expires: 'Gültig bis',
  never: 'unbefristet',
  afterStart: 'nach der ersten Aktivierung',
  sentOnce: 'Bitte bewahren Sie diese Mail auf: Wir senden diesen Schlüssel nur einmal.',
  sentAgain:
    'Bitte bewahren Sie diese Mail auf. Wenn Sie sie verlieren, schreiben Sie uns: Wir senden den Schlüssel erneut.',
  portal:
    'Ihre Lizenz und die Geräte, die sie verwenden, sehen Sie hier. Melden Sie sich mit der Adresse an, an die diese Mail ging:',
  portalWithKey:
    'Ihre Lizenz und die Geräte, die sie verwenden, sehen Sie hier, und Sie können sich den Schlüssel erneut senden lassen. Melden Sie sich mit der Adresse an, an die diese Mail ging:',
  portalLink: 'Lizenz ansehen',
  receipt:
    'Die angehängte Datei beweist, dass Ihre Lizenz in unserem signierten Protokoll steht. Sie müssen sie nicht öffnen: Bewahren Sie sie mit dieser Mail auf.',
}
