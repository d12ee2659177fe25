/* Puts a certificate (a PEM file) into a store of the user's, or takes it out again: for what tool.rs says of the system's trust.
 * It is written where the system keeps it, in the registry: Wine 8 replaces and removes nothing by the functions for that.
 * Usage: trust add|remove STORE FILE [PURPOSE]   a purpose, an object identifier, is all that the certificate is trusted for */
#include <windows.h>

#include <stdio.h>
#include <string.h>
#include <wincrypt.h>

static int failed(const char *what)
{
  fprintf(stderr, "%s: %lx\n", what, (unsigned long)GetLastError());
  return 1;
}

static int limit(PCCERT_CONTEXT certificate, char *purpose)
{
  CERT_ENHKEY_USAGE uses = {1, &purpose};
  BYTE encoded[256];
  CRYPT_DATA_BLOB blob = {sizeof encoded, encoded};
  return CryptEncodeObject(X509_ASN_ENCODING, X509_ENHANCED_KEY_USAGE, &uses, encoded, &blob.cbData) &&
         CertSetCertificateContextProperty(certificate, CERT_ENHKEY_USAGE_PROP_ID, 0, &blob);
}

int main(int count, char **words)
{
  static char text[1 << 16];
  static BYTE der[1 << 16];
  DWORD size = sizeof der;
  if(count < 4)
    return 2;
  FILE *file = fopen(words[3], "rb");
  if(!file || !fread(text, 1, sizeof text - 1, file))
    return failed("no such file");
  fclose(file);
  if(!CryptStringToBinaryA(text, 0, CRYPT_STRING_BASE64HEADER, der, &size, NULL, NULL))
    return failed("no certificate");
  PCCERT_CONTEXT certificate = CertCreateCertificateContext(X509_ASN_ENCODING, der, size);
  if(!certificate || (count > 4 && !limit(certificate, words[4])))
    return failed("no certificate");

  char key[512];
  BYTE hash[20];
  DWORD length = sizeof hash;
  int end = snprintf(key, 256, "Software\\Microsoft\\SystemCertificates\\%s\\Certificates\\", words[2]);
  CertGetCertificateContextProperty(certificate, CERT_SHA1_HASH_PROP_ID, hash, &length);
  for(DWORD i = 0; i < length; i++)
    end += sprintf(key + end, "%02X", hash[i]);
  if(!strcmp(words[1], "remove"))
    return RegDeleteKeyA(HKEY_CURRENT_USER, key) ? failed("not removed") : 0;
  size = 0; /* which Wine tells of no buffer but a missing one */
  CertSerializeCertificateStoreElement(certificate, 0, NULL, &size);
  if(size > sizeof text || !CertSerializeCertificateStoreElement(certificate, 0, (BYTE *)text, &size))
    return failed("not written");
  return RegSetKeyValueA(HKEY_CURRENT_USER, key, "Blob", REG_BINARY, text, size) ? failed("not added") : 0;
}
