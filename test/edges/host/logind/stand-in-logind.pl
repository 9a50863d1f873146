#!/usr/bin/perl
# A logind and a systemd on a bus of a test. It answers the calls about the shutdown of the machine as these do, and passes locks as
# descriptors, which Node cannot. It shuts nothing down.
#
#   stand-in-logind.pl SOCKET SETTINGS-FILE
#
# Input, a line each:  `delay N` sets the longest delay to N microseconds; `signal 1` and `signal 0` emit PrepareForShutdown;
#                      `refuse` refuses further locks; `deaf` does not read the settings any more.
# Output, a line each: `ready`, `lock WHAT|WHO|WHY|MODE`, `released`, `reload UNIT WHOM SIGNAL`.
use strict;
use warnings;
use Config;
use IO::Handle;
use IO::Select;
use IO::Socket::UNIX;
use Socket;

my ($socket_path, $settings) = @ARGV;
my $SENDMSG = $Config{archname} =~ /^x86_64/ ? 46 : 211;
my $LOGIND = 'org.freedesktop.login1';
my $SYSTEMD = 'org.freedesktop.systemd1';
my ($METHOD_CALL, $METHOD_RETURN, $ERROR, $SIGNAL) = 1 .. 4;

STDOUT->autoflush(1);
my $bus = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $socket_path) or die "cannot reach the bus: $!";
my ($serial, $delay, $refuses, $deaf, $input, $commands) = (0, 5_000_000, 0, 0, '', '');
my %held;

sub aligned { my ($bytes, $to) = @_; $bytes . "\0" x (-length($bytes) % $to) }
sub text { pack('L', length $_[0]) . "$_[0]\0" }
sub signature { pack('C', length $_[0]) . "$_[0]\0" }

# Sends a message; with a handle, its descriptor goes with it.
sub message {
  my ($type, $fields, $signature, $body, $handle) = @_;
  my $all = '';
  my @fields = (@$fields, $signature eq '' ? () : [8, 'g', $signature], $handle ? [9, 'u', 1] : ());
  for my $field (@fields) {
    my ($code, $kind, $value) = @$field;
    $all = aligned($all, 8) . pack('C', $code) . signature($kind);
    if ($kind eq 'g') { $all .= signature($value) }
    else { $all = aligned($all, 4) . ($kind eq 'u' ? pack('L', $value) : text($value)) }
  }
  my $head = 'l' . pack('C C C L L', $type, 0, 1, length $body, ++$serial) . pack('L', length $all) . $all;
  my $bytes = aligned($head, 8) . $body;
  return $bus->syswrite($bytes) unless $handle;
  my $control = pack('Q l l l x4', 20, SOL_SOCKET, 1, fileno $handle);
  my $vector = pack('P Q', $bytes, length $bytes);
  my $packed = pack('Q L x4 P Q P Q l x4', 0, 0, $vector, 1, $control, length $control, 0);
  syscall($SENDMSG, fileno $bus, $packed, 0) >= 0 or die "sendmsg: $!";
}

sub call { my ($member, $signature, $body) = @_;
  my $name = 'org.freedesktop.DBus';
  message($METHOD_CALL, [[1, 'o', '/org/freedesktop/DBus'], [6, 's', $name], [2, 's', $name], [3, 's', $member]], $signature, $body);
}

# Reads the values of a body or of a field, as far as the calls of a test need them.
sub values_of {
  my ($signature, $bytes) = @_;
  my ($at, @values) = (0);
  for my $kind (split //, $signature) {
    if ($kind eq 'g') { my $length = unpack 'C', substr $bytes, $at; push @values, substr $bytes, $at + 1, $length; $at += $length + 2; next }
    $at += -$at % 4;
    my $number = unpack 'L', substr $bytes, $at, 4;
    $at += 4;
    if ($kind =~ /[so]/) { push @values, substr $bytes, $at, $number; $at += $number + 1 } else { push @values, $number }
  }
  return @values;
}

# Takes one whole message off the input: type, serial, fields by code, values of the body. Nothing if it is not whole yet.
sub taken {
  return if length $input < 16;
  my ($type, $body_length, $of) = unpack 'x C x2 L L', $input;
  my $fields_length = unpack 'L', substr $input, 12, 4;
  my $start = 16 + $fields_length;
  $start += -$start % 8;
  return if length $input < $start + $body_length;
  my ($at, %fields) = (16);
  while ($at < 16 + $fields_length) {
    $at += -$at % 8;
    my $code = unpack 'C', substr $input, $at;
    my $kind = substr $input, $at + 2, 1;
    $at += 4;
    if ($kind eq 'g') { $fields{$code} = (values_of('g', substr $input, $at))[0]; $at += length($fields{$code}) + 2; next }
    $at += -$at % 4;
    $fields{$code} = (values_of($kind, substr $input, $at))[0];
    $at += 4 + ($kind eq 'u' ? 0 : length($fields{$code}) + 1);
  }
  my @values = values_of($fields{8} // '', substr $input, $start, $body_length);
  substr $input, 0, $start + $body_length, '';
  return ($type, $of, \%fields, @values);
}

sub answer {
  my ($type, $of, $fields, @values) = @_;
  my @to = ([5, 'u', $of], [6, 's', $fields->{7} // '']);
  my $member = $fields->{3} // '';
  if ($type == $METHOD_RETURN) { print "ready\n" if ($fields->{5} // 0) == 3; return }
  die "refused by the bus: @values" if $type == $ERROR;
  return if $type != $METHOD_CALL;
  if ($member eq 'Get') { return message($METHOD_RETURN, \@to, 'v', aligned(signature('t'), 8) . pack('Q', $delay)) }
  if ($member eq 'Inhibit') {
    my $error = [4, 's', 'org.freedesktop.login1.OperationInProgress'];
    return message($ERROR, [$error, @to], 's', text('The operation is in progress already')) if $refuses;
    pipe(my $ours, my $theirs) or die;
    message($METHOD_RETURN, \@to, 'h', pack('L', 0), $theirs);
    close $theirs;
    $held{fileno $ours} = $ours;
    return print 'lock ', join('|', @values), "\n";
  }
  if ($member eq 'KillUnit') {
    if (!$deaf && open my $file, '<', $settings) {
      while (<$file>) { $delay = $1 * 1_000_000 if /^InhibitDelayMaxSec=(\d+)$/ }
    }
    message($METHOD_RETURN, \@to, '', '');
    return print "reload @values\n";
  }
  message($ERROR, [[4, 's', 'org.freedesktop.DBus.Error.UnknownMethod'], @to], 's', text("no method $member"));
}

sub command {
  my ($word, $number) = split ' ', $_[0];
  $delay = $number if $word eq 'delay';
  $refuses = 1 if $word eq 'refuse';
  $deaf = 1 if $word eq 'deaf';
  return if $word ne 'signal';
  my @fields = ([1, 'o', '/org/freedesktop/login1'], [2, 's', "$LOGIND.Manager"], [3, 's', 'PrepareForShutdown']);
  message($SIGNAL, \@fields, 'b', pack('L', $number));
}

sub said { my $line = ''; until ($line =~ /\r\n$/) { $bus->sysread(my $byte, 1) or die 'the bus has closed'; $line .= $byte } $line }
$bus->syswrite("\0AUTH EXTERNAL " . unpack('H*', "$<") . "\r\n");
said() =~ /^OK / or die 'not authenticated';
$bus->syswrite("NEGOTIATE_UNIX_FD\r\n");
said() =~ /^AGREE_UNIX_FD/ or die 'no descriptors';
$bus->syswrite("BEGIN\r\n");
call('Hello', '', '');
# Fails rather than waits, where the name has an owner.
call('RequestName', 'su', aligned(text($_), 4) . pack('L', 4)) for $LOGIND, $SYSTEMD;

while (1) {
  for my $handle (IO::Select->new($bus, \*STDIN, values %held)->can_read) {
    if ($handle == $bus) {
      $bus->sysread($input, 65_536, length $input) or exit 0;
      while (my @message = taken()) { answer(@message) }
    } elsif ($handle == \*STDIN) {
      sysread STDIN, $commands, 4_096, length $commands or exit 0;
      while ($commands =~ s/^(.*)\n//) { command($1) }
    } else {
      # A lock has no bytes, only its end.
      delete $held{fileno $handle};
      print "released\n";
    }
  }
}
