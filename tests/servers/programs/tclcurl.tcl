# TclCurl: header variables, procedures of its own, debug output, copies and shares; prints facts.
package require TclCurl
set http $env(HTTP)
puts "ours=[string match *armwire* [curl::version]]"

# Performs a transfer; its code, status, size, some of its headers' names, and the protocol of the status line.
proc go {name url args} {
    global body headers
    set body {}
    array unset headers
    array set headers {http {}}
    set easy [curl::init]
    $easy configure -url $url -bodyvar body -headervar headers
    $easy configure {*}$args
    if {![catch {$easy perform} code]} {set code 0}
    set names {}
    foreach wanted {Accept-Ranges Content-Length Content-Range Location WWW-Authenticate http} {
        if {[info exists headers($wanted)] && $headers($wanted) ne {}} {lappend names $wanted}
    }
    puts "$name=$code,[$easy getinfo responsecode],[string length $body],[join $names :],[lindex $headers(http) 0]"
    $easy cleanup
}

go plain $http/hello
go range $http/big -range 5-9
go moved $http/moved/hello -followlocation 1
go login $http/basic/user/secret -userpwd user:secret -httpauth any
go missing $http/none -failonerror 1
go refused $env(REFUSED)
go untrusted $env(HTTPS)/hello
go secure $env(HTTPS)/big -cainfo $env(CA)

proc piece {size} {
    global left
    set left [lassign $left next]
    return $next
}
set left {one two three {}}
go upload $http/sent1 -upload 1 -readproc piece -infilesize 11
set left {one two three {}}
go chunked $http/sent2 -upload 1 -readproc piece -httpheader [list "Transfer-Encoding: chunked"]
foreach name {sent1 sent2} {
    set easy [curl::init]
    $easy configure -url $http/$name -bodyvar $name
    $easy perform
    $easy cleanup
}
puts "sent=$sent1,$sent2"

set easy [curl::init]
set written 0
proc take {data} {
    incr ::written [string length $data]
    return 0
}
$easy configure -url $http/big -writeproc take
$easy perform
puts "written=$written"
$easy reset
proc progress {total now uptotal upnow} {
    set ::seen "[expr {int($total)}],[expr {$now <= $total}]"
    return 0
}
$easy configure -url $http/big -bodyvar ignored -noprogress 0 -progressproc progress
$easy perform
puts "progress=$seen"
$easy reset
set kinds {}
proc debug {kind data} {
    if {$kind} {append ::kinds $kind}
    return 0
}
$easy configure -url $http/hello -bodyvar ignored -verbose 1 -debugproc debug
$easy perform
puts "debugged=$kinds"
$easy reset
$easy configure -url $http/big
set copy [$easy duphandle]
$copy configure -bodyvar copied
$copy perform
puts "copied=[string length $copied]"
$copy cleanup
$easy cleanup

set share [curl::shareinit]
$share share cookies
foreach path {/cookies/set/name/value /cookies} {
    set easy [curl::init]
    $easy configure -url $http$path -share $share -cookiefile {} -bodyvar cookies
    $easy perform
    $easy cleanup
}
$share cleanup
puts "shared=[string trim $cookies]"
puts "words=[curl::escape {a b}],[string map {{ } _} [curl::unescape a%20b]]"
puts "end=1"
