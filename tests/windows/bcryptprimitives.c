/* A stand-in for a library of Windows' that Debian's Wine (8.0) lacks: Rust's std takes random numbers from it. For tests alone,
 * in whose Wine's system folder it is put; nothing that is shipped has it. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
  while(length > 0) {
    ULONG piece = length > 1 << 20 ? 1 << 20 : (ULONG)length;
    if(!RtlGenRandom(data, piece))
      return FALSE;
    data += piece;
    length -= piece;
  }
  return TRUE;
}
