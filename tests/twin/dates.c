/* curl_getdate(3): every form the page names, combinations, and what is no date.
 * covers: curl_getdate */
#include "twin.h"

int main(void)
{
  static const char *dates[] = {
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "06 Nov 1994 08:49:37 GMT",
    "06-Nov-94 08:49:37 GMT", "Nov  6 08:49:37 1994", "06 Nov 1994 08:49:37", "06-Nov-94 08:49:37", "1994 Nov 6 08:49:37",
    "GMT 08:49:37 06-Nov-94 Sunday", "94 6 Nov 08:49:37", "1994 Nov 6", "06-Nov-94", "Sun Nov 6 94", "1994.Nov.6",
    "Sun/Nov/6/94/GMT", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994 08:49:37 EST", "Sun, 12 Sep 2004 15:05:58 -0700",
    "Sat, 11 Sep 2004 21:32:11 +0200", "20040912 15:05:58 -0700", "20040911 +0200", "20040912", "20040912 150558",
    "Thu, 01-Jan-1970 00:59:58 GMT", "Thu, 01-Jan-1970 00:00:00 GMT", "Thu, 01-Jan-1970 00:00:01 GMT", "01 Jan 1970 00:00 UTC",
    "Fri, 13 Feb 2009 23:31:30 GMT", "Tue, 19 Jan 2038 03:14:07 GMT", "Tue, 19 Jan 2038 03:14:08 GMT", "31 Dec 9999 23:59:59 GMT",
    "1 Jan 1969", "1 Jan 1583", "1 Jan 1582", "1 Jan 0001", "1 Jan 10000", "29 Feb 2000", "29 Feb 2001", "30 Feb 2000", "31 Apr 2001", "32 Jan 2001",
    "0 Jan 2001", "12 Foo 2001", "Sun 12", "12:00", "12:00:00", "24:00:00 1 Jan 2001", "23:59:60 1 Jan 2001", "23:59:61 1 Jan 2001", "25:00 1 Jan 2001",
    "12:60 1 Jan 2001", "1:2:3 1 Jan 2001", "01:02 1 Jan 2001", "1 Jan 2001 12:", "1 Jan 2001 :12", "1 Jan 2001 12:13:14:15",
    "1 Jan 70", "1 Jan 69", "1 Jan 71", "1 Jan 99", "1 Jan 00", "1 Jan 38", "Jan 1 1", "1 1 Jan", "2001 2002 Jan 1",
    "1 Jan 2001 GMT", "1 Jan 2001 UTC", "1 Jan 2001 UT", "1 Jan 2001 WET", "1 Jan 2001 BST", "1 Jan 2001 WAT", "1 Jan 2001 AST", "1 Jan 2001 ADT",
    "1 Jan 2001 EST", "1 Jan 2001 EDT", "1 Jan 2001 CST", "1 Jan 2001 CDT", "1 Jan 2001 MST", "1 Jan 2001 MDT", "1 Jan 2001 PST", "1 Jan 2001 PDT",
    "1 Jan 2001 YST", "1 Jan 2001 YDT", "1 Jan 2001 HST", "1 Jan 2001 HDT", "1 Jan 2001 CAT", "1 Jan 2001 AHST", "1 Jan 2001 NT", "1 Jan 2001 IDLW",
    "1 Jan 2001 CET", "1 Jan 2001 MET", "1 Jan 2001 MEWT", "1 Jan 2001 MEST", "1 Jan 2001 CEST", "1 Jan 2001 MESZ", "1 Jan 2001 FWT", "1 Jan 2001 FST",
    "1 Jan 2001 EET", "1 Jan 2001 WAST", "1 Jan 2001 WADT", "1 Jan 2001 CCT", "1 Jan 2001 JST", "1 Jan 2001 EAST", "1 Jan 2001 EADT", "1 Jan 2001 GST",
    "1 Jan 2001 NZT", "1 Jan 2001 NZST", "1 Jan 2001 NZDT", "1 Jan 2001 IDLE", "1 Jan 2001 XYZ", "1 Jan 2001 gmt", "1 Jan 2001 est",
    "1 Jan 2001 A", "1 Jan 2001 B", "1 Jan 2001 I", "1 Jan 2001 J", "1 Jan 2001 K", "1 Jan 2001 M", "1 Jan 2001 N", "1 Jan 2001 Y", "1 Jan 2001 Z",
    "1 Jan 2001 00:00 +0000", "1 Jan 2001 00:00 -0000", "1 Jan 2001 00:00 +1400", "1 Jan 2001 00:00 +1401", "1 Jan 2001 00:00 -1400", "1 Jan 2001 00:00 +0160",
    "1 Jan 2001 00:00 +01:30", "1 Jan 2001 00:00 GMT+1", "1 Jan 2001 00:00 GMT+0100", "1 Jan 2001 00:00 +01", "1 Jan 2001 00:00 +100",
    "Jan 1 2001 00:00:00 +0100", "jan 1 2001", "JAN 1 2001", "january 1 2001", "Janu 1 2001", "mon jan 1 2001", "monday jan 1 2001", "mondays jan 1 2001",
    "Mon, 1 Jan 2001", "Tue, 1 Jan 2001", "Wednesday 1 Jan 2001", "Wednes 1 Jan 2001",
    "2001-01-01", "2001/01/01", "01/02/2001", "2001-01-01T00:00:00Z", "2001-01-01 00:00:00", "1 Jan 2001 1 PM", "1 Jan 2001 12:00 PM",
    "", " ", ",", "-", "0", "1", "99999999", "20010101", "20011301", "20010132", "20010001", "200101011", "2001010", "12345678901234567890",
    "1 Jan 2001 000000", "1 Jan 2001 235959", "1 Jan 2001 240000", "1 Jan 2001 12345", "\t1\nJan\r2001", "1;Jan;2001", "1_Jan_2001", "(1) [Jan] {2001}",
    "1 Jan 2001 GMT GMT", "Mon Mon 1 Jan 2001", "1 Jan Feb 2001", "1 Jan 2001 12:00 13:00", "1 Jan -2001", "+1 Jan 2001", "1 Jan 2001\xc3\xa4", "1 Jan 2001 x",
    "now", "today", "yesterday", "tomorrow", "next week", "1 month ago", "Sun, 6 Nov 1994 8:49:37 GMT; path=/", "Wed, 31-Dec-97 23:59:59 GMT",
  };
  for(size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    char name[64];
    time_t ignored = 4711;
    snprintf(name, sizeof name, "%s", dates[i]);
    for(char *c = name; *c; c++)
      *c = *c == ':' ? '.' : *c < 33 && *c != ' ' ? '_' : *c;
    printf("<%s>: %lld %lld\n", name, (long long)curl_getdate(dates[i], NULL), (long long)curl_getdate(dates[i], &ignored));
  }
  return 0;
}
