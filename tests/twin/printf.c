/* curl's printf family, conversion by conversion; each line is the call, what it returned and what it printed. */
#include <curl/curl.h>
#include <curl/mprintf.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#undef printf
#define T(...) do { char b[600]; int r = curl_msnprintf(b, sizeof b, __VA_ARGS__); printf("%s: %d [%s]\n", #__VA_ARGS__, r, b); } while(0)
int main(void)
{
 T("%y|%d", 5);
  T("a%yb");
  T("%");
  T("abc%");
  T("%5%|");
  T("%#s","x");
  T("%S","x");
  T("%#s",(char*)0);
  T("%s",(char*)0);
  T("%.3s",(char*)0);
  T("%.5s",(char*)0);
  T("%10s|",(char*)0);
  T("%-10s|",(char*)0);
 T("%p",(void*)0);
  T("%10p|",(void*)0);
  T("%-10p|",(void*)0);
  T("%p",(void*)0x1234);
  T("%20p|",(void*)0x1234);
  T("%-20p|",(void*)0xabcd);
 T("%c%c",'a',0);
  T("%5c|",'x');
  T("%-5c|",'x');
  T("%05d|",-42);
  T("%+d % d",4,4);
  T("%+u",4);
  T("%#x %#X %#o",255,255,8);
  T("%#x %#o",0,0);
  T("%.0d|",0);
  T("%.5d|",42);
  T("%8.5d|",42);
  T("%-8.5d|",42);
  T("%08.5d|",42);
  T("%#08x|",255);
  T("%#.8x|",255);
  T("%#-8x|",255);
  T("%#8x|",255);
  T("%-08d|",3);
  T("%+-8d|",3);
  T("% 05d|",3);
  T("%+05d|",3);
 T("%.2f %5.1f|%-8.2f|",3.14159,2.55,1.5);
  T("%08.2f|",3.14159);
  T("%+f",1.0);
  T("% f",1.0);
  T("%#.0f",1.0);
  T("%e %E %g %G",12345.678,1e-7,1e-7,1e20);
  T("%f",1e300);
  T("%.400f|",1.0);
  T("%400f|",1.0);
  T("%*f|",500,1.0);
  T("%.*f|",500,1.5);
  T("%f %F",INFINITY,NAN);
  T("%f",1e308);
  T("%a",1.0);
 T("%hd %hu %hx", 70000, 70000,70000);
  T("%hhd",300);
  T("%ld %lu %lld %llu %zd %zu %qd",-1L,ULONG_MAX,-1LL,ULLONG_MAX,(size_t)5,(size_t)-1,7LL);
  T("%Od",5LL);
  T("%Lf",(long double)2.5);
  T("%I64d",5LL);
 T("%i %o %u %x %X",-1,8,-1,-1,-1);
  T("%d",INT_MIN);
  T("%lld",LLONG_MIN);
 T("%2$s %1$s","a","b");
  T("%1$s %1$s","a");
  T("%2$s","a","b");
  T("%1$s %s","a","b");
  T("%s %1$s","a","b");
  T("%2$*1$d|",5,42);
  T("%0$d",5);
  T("%*d|",-8,3);
  T("%*d|",5,3);
  T("%.*d",-1,5);
  T("%*.*s|",8,2,"abc");
  T("%129$s","a");
  T("%.2147483648d",5);
  T("%99999999999d",5);
  T("%-.3d|",7);
  T("%5.d|",7);
  T("%.3.3d|",7);
  T("%0-5d|",7);
  T("%s%%%s","a","b");
  T("%%");
  T("x%%y");
  T("%5s|%-5s|%.2s|%5.2s|","abc","abc","abc","abc");
  T("%05s|","abc");
  T("%#5s|","abc");
  T("%#.2s|","abc");
  T("%1000d|",1);
  int n = 0;
  T("abc%n|%d", &n, 4);
  printf("count: %d\n", n);
  char b[100] = "zzz";
  printf("no room: %d\n", curl_msnprintf(NULL, 0, "abc"));
  printf("room for the end: %d [%s]\n", curl_msnprintf(b, 1, "abc"), b);
  printf("cut: %d [%s]\n", curl_msnprintf(b, 4, "abcdef"), b);
  printf("size 0: %d\n", curl_msnprintf(b, 0, "abcdef"));
  char *p = curl_maprintf("%s", "");
  printf("allocated: [%s]\n", p ? p : "NULL");
  curl_free(p);
  printf("unbounded: %d [%s]\n", curl_msprintf(b, "x%dy", 5), b);
  fflush(stdout);
  printf("to stdout: %d\n", curl_mprintf("hi: %d\n", 3));
  printf("to a file: %d\n", curl_mfprintf(stdout, "hi: %s\n", "x"));
  return 0;
}
