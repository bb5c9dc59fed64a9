// cspell:disable -- German
import type { PortalTextKey } from './en.ts'

/** Every text of the portal in German. */
export const de: Record<PortalTextKey, string> = {
  title: 'Ihre Lizenzen',
  footer: 'Fragen? Schreiben Sie an {support}.',
  language: 'Sprache',
  signOut: 'Abmelden',
  signedInAs: 'Angemeldet als {email}',
  back: 'Alle Lizenzen',
  cancel: 'Abbrechen',
  save: 'Speichern',

  signInTitle: 'Anmelden',
  signInLead:
    'Geben Sie die E-Mail-Adresse ein, zu der Ihre Lizenz gehört. Wir senden Ihnen einen Link zum Anmelden.',
  emailLabel: 'E-Mail-Adresse',
  emailWrong: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
  signInButton: 'Link senden',
  linkSentTitle: 'Sehen Sie in Ihr Postfach',
  linkSent:
    'Wenn zu dieser Adresse eine Lizenz gehört, ist ein Link zum Anmelden unterwegs. Öffnen Sie ihn in diesem Browser innerhalb von {minutes} Minuten.',
  linkSentHint:
    'Nichts angekommen? Sehen Sie im Spam-Ordner nach, oder versuchen Sie die Adresse, an die Ihre Rechnung ging.',
  linkSentAgain: 'Andere Adresse verwenden',
  linkTitle: 'Anmelden',
  linkLead: 'Sie haben diesen Link angefordert. Er gilt einmal.',
  linkButton: 'Anmelden',
  linkOtherBrowserTitle: 'Öffnen Sie den Link im anderen Browser',
  linkOtherBrowser:
    'Dieser Link gilt nur in dem Browser, in dem Sie ihn angefordert haben. Öffnen Sie ihn dort, oder fordern Sie hier einen neuen an.',
  linkExpiredTitle: 'Dieser Link ist abgelaufen',
  linkExpired: 'Ein Link gilt einmal, innerhalb von {minutes} Minuten. Fordern Sie einen neuen an.',
  linkAgain: 'Neuen Link anfordern',

  mailSubject: 'Anmelden bei {vendor}',
  mailText:
    'Guten Tag,\n\nöffnen Sie diesen Link in dem Browser, in dem Sie ihn angefordert haben, innerhalb von {minutes} Minuten:\n\n{link}\n\nEr zeigt Ihre Lizenzen von {vendor}. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Mail: Es geschieht nichts.',

  licensesLead: 'Was Sie bei {vendor} gekauft haben, und die Geräte, die es verwenden.',
  noLicensesTitle: 'Keine Lizenzen',
  noLicenses: 'Zu Ihrer Adresse gehört keine Lizenz mehr.',
  moreLicenses: 'Weitere Lizenzen',
  statusActive: 'Aktiv',
  statusFallback: 'Aktiv mit weniger Funktionen',
  statusExpired: 'Abgelaufen',
  statusSuspended: 'Angehalten',
  statusRevoked: 'Beendet',
  endsNever: 'Läuft nicht ab.',
  endsAfterStart: 'Gilt {duration} ab der ersten Aktivierung.',
  endsOn: 'Gültig bis {date}.',
  inGrace: 'Am {date} abgelaufen. Kann noch bis {until} genutzt werden.',
  endedOn: 'Beendet am {date}.',
  fallbackSince: 'Der bezahlte Zeitraum endete am {date}. Was unten enthalten ist, bleibt Ihnen.',
  suspendedWords: 'Sie kann zurzeit nicht verwendet werden. Bitte schreiben Sie an den Support.',
  revokedWords: 'Sie kann nicht mehr verwendet werden.',

  keyLabel: 'Lizenzschlüssel',
  planLabel: 'Ausgabe',
  quantityLabel: 'Anzahl',
  boughtLabel: 'Seit',
  endLabel: 'Gültigkeit',
  updatesLabel: 'Updates',
  updatesUntil: 'Gilt für Versionen, die bis zum {date} erstellt wurden, ohne Ende.',
  includesLabel: 'Enthält',
  devicesLabel: 'Geräte',
  seatsOf: '{used} von {limit} Geräten',
  seatsUnlimited: '{used} Geräte, unbegrenzt',

  devicesTitle: 'Geräte',
  seatsTitle: 'Jetzt belegte Plätze',
  noDevices: 'Kein Gerät verwendet diese Lizenz.',
  deviceSince: 'Seit {date}',
  seatUntil: 'Behält seinen Platz bis {moment}, und länger, solange die App läuft',
  deviceSeen: 'Zuletzt gesehen {date}',
  deviceNameApp: 'Von der App gemeldet: {name}',
  renameDevice: 'Umbenennen',
  renameTitle: 'Dieses Gerät benennen',
  renameLabel: 'Name des Geräts',
  renameHint:
    'Nur Sie und der Support sehen ihn. Lassen Sie ihn leer, um den von der App gemeldeten zu verwenden.',
  renameWrong: 'Geben Sie höchstens 80 Zeichen ohne Zeilenumbruch ein.',
  renamed: 'Der Name wurde gespeichert.',
  freeDevice: 'Entfernen',
  freeTitle: '{name} entfernen?',
  freeLead:
    'Die Lizenz kann dann auf einem anderen Gerät verwendet werden. Die App auf dem entfernten Gerät fragt wieder nach einem Lizenzschlüssel.',
  freeLeft: 'Sie können innerhalb von 30 Tagen noch {left} Geräte entfernen.',
  freeLeftOne: 'Sie können innerhalb von 30 Tagen noch ein Gerät entfernen.',
  freeNone:
    'Sie haben so viele Geräte entfernt, wie innerhalb von 30 Tagen möglich ist. Das nächste kann am {date} entfernt werden.',
  freeOff: 'Um ein Gerät zu entfernen, schreiben Sie an den Support.',
  freeButton: 'Gerät entfernen',
  freed: 'Das Gerät wurde entfernt. Die Lizenz kann auf einem anderen verwendet werden.',

  keyTitle: 'Schlüssel verloren?',
  sendKey: 'Schlüssel erneut senden',
  sendKeyLead: 'Wir senden ihn an {email}.',
  keySent: 'Der Schlüssel ist per Mail unterwegs zu Ihnen.',
  keySentRecently:
    'Der Schlüssel wurde gerade gesendet. Warten Sie fünf Minuten, bevor Sie ihn noch einmal anfordern.',
  replaceKey: 'Schlüssel ersetzen',
  replaceKeyLead: 'Wenn jemand anderes Ihren Schlüssel hat, lassen Sie sich einen neuen geben.',
  replaceTitle: 'Schlüssel ersetzen?',
  replaceWords:
    'Wir senden einen neuen Schlüssel an {email}. Der jetzige gilt dann nicht mehr; Ihre Geräte funktionieren weiter, sobald Sie den neuen eingeben.',
  replaceButton: 'Schlüssel ersetzen',
  keyReplaced: 'Der neue Schlüssel ist per Mail unterwegs zu Ihnen.',
  replacedOften:
    'Der Schlüssel wurde heute mehrmals ersetzt. Versuchen Sie es morgen wieder, oder schreiben Sie an den Support.',
  notPossible: 'Das ist für diese Lizenz zurzeit nicht möglich. Bitte schreiben Sie an den Support.',

  filesTitle: 'Ein Rechner ohne Netz?',
  filesLead:
    'Die App auf dem Rechner erstellt eine Anfrage. Hier erhalten Sie die Lizenzdatei, die sie beantwortet.',
  filesLink: 'Lizenzdatei erhalten',
  fileTitle: 'Lizenzdatei',
  fileHow:
    'Fügen Sie den Text ein, den die App erstellt hat, von BEGIN bis END: eine Anfrage, oder eine Rückgabe der Datei.',
  fileHold: 'Das Gerät behält seinen Platz, bis die Datei endet oder die App darauf sie zurückgibt.',
  fileLabel: 'Text der App',
  fileButton: 'Weiter',
  fileFor: 'Für {name}, gültig bis {date}. Nur dieses Gerät nimmt sie an.',
  fileSave: 'Als Datei speichern',
  fileBack: 'Zurück zur Lizenz',
  fileScan: 'Die Lizenzdatei als QR-Code',
  fileWrong: 'Das ist kein Text dieser App, oder er ist nicht vollständig. Fügen Sie ihn ganz ein.',
  fileOther:
    'Der Text gehört zu einem anderen Lizenzschlüssel oder zu einer älteren Datei. Erstellen Sie auf dem Gerät einen neuen.',
  fileOld: 'Ein neuerer Text des Geräts wurde schon beantwortet. Erstellen Sie auf dem Gerät einen neuen.',
  fileSpent:
    'Innerhalb eines Jahres wurden so viele Dateien erstellt, wie möglich sind. Bitte schreiben Sie an den Support.',
  fileFull: 'Alle Geräte der Lizenz sind vergeben. Entfernen Sie zuerst eines.',
  fileNowhere: 'Keine Ihrer Lizenzen hat den Schlüssel, mit dem der Text erstellt wurde.',
  fileKept: 'Der Text Ihres Geräts ist gemerkt: Melden Sie sich an, dann ist er eingetragen.',
  fileReleased: 'Die Datei wurde zurückgegeben. Die Lizenz kann auf einem anderen Gerät verwendet werden.',

  relaysTitle: 'Ein Netz ohne Verbindung?',
  relaysLead:
    'Ein Relay in Ihrem Netz vergibt Plätze der Lizenz an Geräte, die uns nicht erreichen. Es erstellt eine Anfrage; hier erhalten Sie die Antwort.',
  relaysLink: 'Relay beantworten',
  relayUntil: 'Plätze: {seats}, bis {date}',
  relayTitle: 'Relay',
  relayHow:
    'Fügen Sie den Text ein, den das Relay erstellt hat, von BEGIN bis END: eine Anfrage, oder eine Rückgabe seiner Plätze.',
  relayHold: 'Seine Plätze sind belegt, bis seine Zeit endet oder es sie zurückgibt.',
  relayLabel: 'Text des Relays',
  relayFor: 'Für {name}, Plätze: {seats}, gültig bis {date}. Nur dieses Relay nimmt sie an.',
  relayWrong:
    'Das ist kein Text eines Relays für dieses Produkt, oder er ist nicht vollständig. Fügen Sie ihn ganz ein.',
  relayOther:
    'Der Text gehört zu einem anderen Lizenzschlüssel oder zu einem unbekannten Relay. Melden Sie das Relay neu an.',
  relayOld:
    'Ein neuerer Text des Relays wurde schon beantwortet, oder es hat seine Plätze zurückgegeben. Erstellen Sie auf dem Relay einen neuen.',
  relayCopied:
    'Das Relay wurde kopiert und wird nicht verlängert. Löschen Sie die Kopien, und melden Sie ein neues an, wenn seine Zeit endet.',
  relayFull:
    'Es sind weniger Plätze frei, als das Relay verlangt. Verlangen Sie weniger, oder entfernen Sie zuerst Geräte.',
  relayReleased: 'Die Plätze des Relays sind frei.',
  seatHeld: 'Dieses Gerät hat eine Lizenzdatei und behält seinen Platz bis {date}.',

  usageTitle: 'Verbrauch',
  usageUsed: '{used} von {all} {unit} verbraucht',
  usageShared: 'Von allen Ihren Lizenzen zusammen.',
  usageAmount: '{amount} {unit}',
  usageLeftLabel: 'Übrig',
  usageBeyondLabel: 'Darüber hinaus',
  usageHeldLabel: 'Für laufende Arbeiten reserviert',
  usageResetsLabel: 'Beginnt neu am',
  usageForecastLabel: 'Bei gleichem Verbrauch',
  usageUsedUp: 'Aufgebraucht am {date}',
  usageLasts: 'Es reicht',
  usageCreditsLabel: 'Davon Guthaben',
  usageCredit: '{amount} {unit}, zu verbrauchen bis {date}',
  usagePlot: '{unit} je Tag in den letzten {days} Tagen, höchstens {most}',

  ordersTitle: 'Bestellung',
  orderLabel: 'Bestellnummer',
  orderDateLabel: 'Datum',
  orderAmountLabel: 'Betrag',
  orderTest: 'Testbestellung',

  notFoundTitle: 'Nicht gefunden',
  notFound: 'Diese Seite gibt es nicht.',
  formExpiredTitle: 'Diese Seite ist veraltet',
  formExpired: 'Gehen Sie zurück, laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  notReadTitle: 'Dieser Text geht nicht',
  notRead:
    'Er enthält Zeichen, die unsichtbar sind oder die Schreibrichtung ändern. Gehen Sie zurück, und geben Sie ihn neu ein.',
  tooManyTitle: 'Zu viele Versuche',
  tooMany: 'Warten Sie {minutes} Minuten, und versuchen Sie es wieder.',
  failedTitle: 'Etwas ist schiefgegangen',
  failed: 'Versuchen Sie es gleich noch einmal.',
}
